"""Python runs this before create.py in the tests: the client's waits are 20 times shorter."""
import time

sleep = time.sleep
time.sleep = lambda seconds: sleep(seconds / 20)
