"""What passes ask about a function before they change it."""
