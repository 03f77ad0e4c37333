"""What several statistics are made of: sums, masks, categories, sketches, samples."""
