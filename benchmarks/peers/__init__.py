"""Our PC beside other libraries' and private algorithms beside plain ones: seconds and graphs."""
