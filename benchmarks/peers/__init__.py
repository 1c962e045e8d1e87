"""Our PC and other libraries', and private algorithms and plain ones: seconds and graphs."""
