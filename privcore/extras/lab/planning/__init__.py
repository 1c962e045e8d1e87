"""What a budget would buy, before it is spent."""
