module pause-for-tests

go 1.25.0
