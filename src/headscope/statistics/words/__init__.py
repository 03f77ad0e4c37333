"""What a head has to do with tags, dependencies and coreference."""
