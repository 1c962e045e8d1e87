"""What makes a run private: mechanisms, and the accounting of what they cost."""
