"""The golden record: recorded results of the library, and their replay."""
