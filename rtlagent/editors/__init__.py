"""Files for editors: edits of JSON with comments, and what VS Code needs to work with rtlagent."""
