"""What a run says, in sentences that hold whatever the numbers are."""
