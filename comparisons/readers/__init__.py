"""One task, done with each tool as its documentation does it: a file a tool."""
