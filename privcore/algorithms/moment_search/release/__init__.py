"""What is released: moments and tables with Gaussian noise, and their plan."""
