"""Limits of requests, in one place."""

MAX_CONNECTIONS = 16
CONNECT_SECONDS = 10.0
BACKOFF_SECONDS = 0.25
# Pages are taken as they were for this long; a page of the PyTorch index may be cached for as long.
PAGE_SECONDS = 600.0
# A page that was not there is asked for again sooner: a mirror may just be filled.
ABSENT_SECONDS = 60.0
