"""What we run: memory, disks, handles, processes, clocks, our own browsers and services."""

from jobs.domain.failures import FailureType
from jobs.domain.rules.base import Rule, Sign

_INFRASTRUCTURE = FailureType.INFRASTRUCTURE

RULES: tuple[Rule, ...] = (
    Rule(
        "run-too-long",
        Sign.PHRASE,
        "soft time limit | hard time limit | job exceeded the maximum runtime | maximum runtime | max runtime"
        " | maximum run time | maximum execution time of | active longer than | execution timed out"
        " | ran longer than | running longer than | run too long | ran too long | task timed out after"
        " | job timed out",
        FailureType.TRANSIENT,
        "the run took too long and was stopped",
    ),
    Rule(
        "memory",
        Sign.PHRASE,
        "out of memory | heap out | out-of-memory | outofmemory | heap limit | allocation failed"
        " | cannot allocate memory | failed to allocate | unable to allocate | could not allocate | memoryerror"
        " | bad_alloc | enomem | cuda_error_out_of_memory | oomkilled | oom-kill | oom killer | oom killed"
        " | memory limit | memory limits | exceeded memory | memory cgroup | not enough memory"
        " | low on resource | insufficient memory | low memory | java heap space | gc overhead limit | metaspace"
        " | direct buffer memory | unable to create new native thread | err_worker_out_of_memory"
        " | err_out_of_memory | array buffer allocation failed | memory exhausted | allowed memory size"
        " | more system memory | requires more memory | vram | kv cache | memory quota | resource limits"
        " | exceeded soft memory | memory allocation",
        _INFRASTRUCTURE,
        "memory is full",
    ),
    Rule(
        "disk",
        Sign.PHRASE,
        "enospc | no space left | is full | transaction log for database | unable to extend | text file busy"
        " | being used by another process | cache resources exhausted | disk full | disk is full"
        " | disk quota exceeded | edquot | not enough space | not enough disk | insufficient disk | out of disk"
        " | xminiostoragefull | storage backend has reached | minimum free drive | insufficientstorage"
        " | input/output error | i/o error | read-only filesystem error | stale file handle | stale nfs | estale"
        " | structure needs cleaning | transport endpoint is not connected | file watchers | inotify"
        " | there is not enough space on the disk | device or resource busy | ebusy | resource busy or locked"
        " | xminio",
        _INFRASTRUCTURE,
        "a disk is full or failing",
    ),
    Rule(
        "handles",
        Sign.PHRASE,
        "emfile | enfile | nodes are available: insufficient | insufficient cpu | node not ready"
        " | too many open files | too many files open | file table overflow | can't start new thread"
        " | cannot start new thread | resource temporarily unavailable | eagain | unable to fork | cannot fork"
        " | fork failed | retry: no child processes | pthread_create failed | process limit | too many processes"
        " | eaddrinuse | address already in use | address in use | eaddrnotavail"
        " | cannot assign requested address | no buffer space | enobufs | insufficient_resources"
        " | insufficient system resources | no more processes | uv_thread_create | /dev/shm | shared memory"
        " | semaphore",
        _INFRASTRUCTURE,
        "handles, threads, ports or processes are used up",
    ),
    Rule(
        "handles-shape",
        Sign.CLUES,
        r"\b(?:can ?not|can't|could ?n[o']t|unable to|fail(?:ed|ure)? to|error) (?:create|creating|start|starting|"
        r"spawn|"
        r"spawning|fork|forking)(?: \w+){0,3} (?:threads?|workers?|process(?:es)?)\b|\bout of (?:system )?"
        r"resources\b|\bport is already (?:allocated|in use)|\b(?:find|get|allocate|no) (?:an? )?(?:free|available)\b"
        r"[\w ,-]{0,40}\b(?:address|port|subnet|slot|worker|node|gpu|device|capacity)s?\b|\bpthread_create\b",
        _INFRASTRUCTURE,
        "threads, ports, addresses or processes are used up",
    ),
    Rule(
        "process-killed",
        Sign.PHRASE,
        "worker lost | worker exited | probably died | has died | died unexpectedly | process died"
        " | bridge disposed | cannot schedule new futures | event loop is closed | interpreter shutdown"
        " | worker died | worker terminated | worker process | worker was killed | worker crashed | workerlost"
        " | workerlosterror | work-horse | workhorse | process was terminated | terminated abruptly"
        " | terminated unexpectedly | brokenprocesspool | process pool was | sigkill | sigsegv | sigabrt | sigbus"
        " | sigterm | signal 9 | signal 11 | signal 15 | signal: killed | signal: 9 | signal kill | exit code 137"
        " | exit code 139 | exit code: 137 | exit code: 139 | exit code 143 | exit code 134 | exit status 137"
        " | exited with 137 | exited with code 137 | exited with code 139 | exited with code 143 | code: 137"
        " | status 137 | exitcode: -9 | exit code -9 | exit code: -9 | segmentation fault | segfault"
        " | core dumped | bus error | double free | killed by | was killed | been killed | process killed"
        " | killed process | evicted | preempted | spot interruption | node is shutting down"
        " | stalled more than allowable | heartbeat timeout | missed heartbeat | zombie | unexpectedly quit"
        " | process crashed | subprocess crashed | process died | renderer process | gpu process"
        " | utility process | instance is shutting down | container * killed | stack smashing | fatal signal"
        " | llama runner | runner process | abnormal termination | nodehost is shutting down | pod was terminated"
        " | timed out in queue",
        _INFRASTRUCTURE,
        "a process of ours was killed or crashed",
    ),
    Rule(
        "worker-taken-for-lost",
        Sign.CLUES,
        r"\b(?:without|no|missed|missing|lost|stale)\b[^\n]{0,30}\bheartbeats?\b|\bheartbeats?\b[^\n]{0,40}\b(?:lost|"
        r"missed|fail\w*|stopp?ed|timed? ?out|expired)\b|\b(?:set|marked|changed) externally\b|\bexternally (?:set|"
        r"marked|killed|terminated)\b|\bterminating (?:instance|worker|process)\b|\b(?:warm|cold) shutdown\b|"
        r"\borphaned (?:task|job|run)s?\b|\bworker timeout\b|\bworker (?:thread|process|with pid|\(pid)\b[^\n]{0,120}\b"
        r"(?:terminated|exited|stopped|hung|timeout|died|aborted)\b",
        _INFRASTRUCTURE,
        "a worker of ours was taken for lost or is stopping",
    ),
    Rule(
        "killed-alone",
        Sign.PATTERN,
        r"^\W{0,3}killed\W{0,3}$|\breturned non-zero exit status -(?:6|7|9|11|15)\b|\bdied with <signals|"
        r"\bsignal(?:ed)?[:=\s]{1,3}(?:sig)?(?:kill|segv|abrt|bus)\b|\bexit(?:ed)?(?: with)? (?:status|"
        r"code)[: ]{1,2}(?:-9|-11|-6|137|139|134)\b",
        _INFRASTRUCTURE,
        "a process of ours was killed or crashed",
    ),
    Rule(
        "clock",
        Sign.PHRASE,
        "requesttimetooskewed | request time and the current time is too large | clock skew"
        " | signature not yet current | time skew | signature expired | token used too early"
        " | iat is in the future | clock is not synchronized",
        _INFRASTRUCTURE,
        "a clock of ours is wrong",
    ),
)

CLUSTER_FULL = Rule(
    "cluster-full",
    Sign.CLUES,
    r"\bis forbidden: exceeded quota\b|\bexceeded quota: [^\n]{0,200}\blimited: ",
    _INFRASTRUCTURE,
    "the quota of our own cluster is used up",
)

#: Asked after what says that an image or a setting is wrong.
SERVICES: tuple[Rule, ...] = (
    Rule(
        "own-program-does-not-start",
        Sign.CLUES,
        r"\b(?:re)?(?:start|launch|spawn)(?:ing)? (?:the |a |long-running )?(?:process|listener|daemon|\w*office\w*|"
        r"browser|"
        r"chromium|server|worker|container)\b[^\n]{0,160}\b(?:deadline|timeout|timed out|not available|unavailable)\b",
        _INFRASTRUCTURE,
        "a program of ours does not start in time",
    ),
    Rule(
        "volume",
        Sign.CLUES,
        r"\b(?:un)?(?:mount|attach|detach)\w*\b[^\n]{0,20}\bvolumes?\b|\bunmounted volumes\b|\bmountvolume\b|"
        r"\bmultiattach\b|\bvolumes?\b[^\n]{0,60}\b(?:un)?(?:attach|mount)\w*\b",
        _INFRASTRUCTURE,
        "a volume of our cluster is not mounted",
    ),
    Rule(
        "search-full",
        Sign.CLUES,
        r"\A(?=[\s\S]*?\bcircuit.?break)[\s\S]*?\b(?:index\w*|shards?|heap|memory|bytes|knn|vector|_?\w*search)\b",
        _INFRASTRUCTURE,
        "our search index is out of memory",
    ),
    Rule(
        "own-pool",
        Sign.CLUES,
        r"\b(?:acquir\w{1,5}|obtain\w{0,3}|get(?:ting)?|wait\w{0,3} for|check(?:ing)? ?out|borrow\w{0,3}|"
        r"allocat\w{1,4})\b"
        r"[^\n]{0,50}\b(?:from|in) (?:the |our |its )?(?:\w+ )?pool\b",
        _INFRASTRUCTURE,
        "a pool of ours has nothing free",
    ),
    Rule(
        "own-services",
        Sign.PHRASE,
        "could not start a new session | sessionnotcreated | session not created | chrome not reachable"
        " | chrome failed to start | unable to connect to the remote server | browserless | selenium grid"
        " | all nodes are busy | no free slots | grid * queue | remote browser | failed to connect to browser"
        " | clamav | clamd | antivirus | vault is sealed | etcdserver | kubelet | docker daemon | containerd"
        " | image pull | nvml | cuda error | gpu is lost | no cuda | cudnn",
        _INFRASTRUCTURE,
        "a service that we run is down",
    ),
)

#: Asked after the network: what container runtimes say when nothing surer is known.
DEFAULTS: tuple[Rule, ...] = (
    Rule(
        "container-runtime",
        Sign.PHRASE,
        "response from daemon | failed to pull | pulling image | crashloopbackoff | back-off restarting"
        " | failedscheduling | failedmount | unable to attach or mount | node had condition | failed to create shim"
        " | failed to create pod sandbox | failed to create containerd | driver failed programming",
        _INFRASTRUCTURE,
        "our container runtime is in trouble",
    ),
)
