//! What functions of the C library and of POSIX do that have no model: write through their
//! arguments, set `errno`, set variables of the library.
//!
//! A function that nobody defines changes nothing, by convention. These are known to do. What those
//! that write are handed pointers to is anything behind them.

/// By header: wide characters, conversions, dates, texts, streams, numbers at random, files and
/// the system, sockets, terminals, signals, searches and patterns, mathematics, accounts.
const WRITERS: &str = "
    wcsxfrm wcsftime swprintf vswprintf swscanf vswscanf fwscanf wscanf fgetws wcscpy_s
    mbsrtowcs wcsrtombs mbsnrtowcs wcsnrtombs wcstof wcstod wcstold strtold ecvt fcvt ecvt_r
    fcvt_r iconv getsubopt swab
    strftime_l strptime
    strxfrm strxfrm_l strerror_r __xpg_strerror_r strfry memfrob confstr
    fgetpos tmpnam tmpnam_r ctermid mkstemp mkstemps mkostemp mkdtemp mktemp realpath
    erand48 nrand48 jrand48 erand48_r nrand48_r jrand48_r drand48_r lrand48_r mrand48_r
    srand48_r lcong48_r initstate initstate_r random_r srandom_r setstate_r getrandom getentropy
    stat64 fstat64 lstat64 fstatat statfs fstatfs statvfs fstatvfs times sysinfo getgroups
    getlogin_r ttyname_r ptsname_r getdomainname getloadavg readlinkat readv preadv pipe2 wait3
    wait4 waitid getrlimit64 prlimit getitimer setitimer timer_create timer_gettime
    timer_settime clock_getcpuclockid readdir_r getcontext
    select pselect poll ppoll epoll_wait epoll_pwait recvfrom recvmsg recvmmsg accept accept4
    getsockname getpeername getsockopt socketpair inet_pton inet_ntop inet_aton getaddrinfo
    getnameinfo gethostbyname_r gethostbyaddr_r
    ioctl tcgetattr cfmakeraw cfsetispeed cfsetospeed openpty forkpty
    sigaction sigemptyset sigfillset sigaddset sigdelset sigpending sigwait sigwaitinfo
    sigtimedwait sigaltstack pthread_sigmask
    qsort_r tsearch tdelete hsearch hsearch_r hcreate_r lsearch insque remque regcomp regexec
    regerror regfree glob globfree wordexp wordfree scandir
    lgamma_r lgammaf_r lgammal_r sincos sincosf sincosl
    getpwnam_r getpwuid_r getgrnam_r getgrgid_r getspnam_r
";

/// Functions of C and POSIX without a model that say by `errno` why they failed; those that have a
/// model or write are known by that. By header: files, directories, processes and users, sockets,
/// terminals and devices, signals and time, memory, threads, texts and numbers.
const FAILING: &str = "
    mkdir rmdir chdir fchdir chmod fchmod chown fchown lchown link symlink truncate ftruncate mknod
    mkfifo umask utime utimes utimensat fcntl flock lockf ioctl fsync fdatasync sync openat mkdirat
    unlinkat renameat faccessat linkat symlinkat fchmodat fchownat pwrite pwrite64 writev pwritev
    sendfile fdopen fputws fputwc putwc putwchar getwc getwchar fgetwc ungetwc wprintf fwprintf
    vwprintf vfwprintf fgetc_unlocked fputs_unlocked fwrite_unlocked fflush_unlocked putw getw
    opendir fdopendir readdir closedir rewinddir seekdir telldir dirfd
    execl execlp execle execv execvp execve setuid setgid seteuid setegid setreuid setregid setsid
    setpgid getpgid getsid nice getpriority setpriority sched_setscheduler setrlimit ptrace
    prctl daemon chroot mount umount reboot getpwnam getpwuid getgrnam getgrgid getlogin setenv
    unsetenv putenv clearenv sysconf pathconf fpathconf
    socket bind connect listen accept accept4 shutdown setsockopt send sendto sendmsg
    gethostbyname inet_addr if_nametoindex epoll_create epoll_create1 epoll_ctl eventfd
    inotify_init inotify_add_watch timerfd_create signalfd pause
    tcsetattr tcflush tcdrain tcsendbreak ttyname ctermid posix_openpt grantpt unlockpt
    sigwaitinfo sigsuspend setitimer clock_settime clock_nanosleep settimeofday stime adjtimex
    mmap munmap mprotect msync mlock munlock madvise brk sbrk shmget shmat shmdt shmctl semget
    semop semctl msgget msgsnd msgctl shm_open shm_unlink sem_open sem_init sem_wait sem_trywait
    sem_post sem_close sem_unlink mq_open mq_send dlopen dlsym dlclose syscall
    setlocale iconv_open iconv_close nl_langinfo catopen wordexp ftok hcreate hsearch
    ldexp scalbn scalbln tgamma lgamma gamma j0 j1 jn y0 y1 yn ilogb logb significand
";

/// Functions without a model, and the library's variables that they set.
const SETTERS: &[(&str, &str)] = &[
    (
        "getopt getopt_long getopt_long_only",
        "optarg optind opterr optopt",
    ),
    (
        "tzset localtime64 localtime64_r wcsftime strftime_l",
        "timezone daylight tzname __timezone __daylight __tzname",
    ),
    ("lgamma lgammaf lgammal gamma gammaf gammal", "signgam"),
    (
        "gethostbyname gethostbyname2 gethostbyaddr gethostent",
        "h_errno",
    ),
    ("setenv putenv unsetenv clearenv", "environ __environ"),
    ("getdate", "getdate_err"),
];

fn is_one_of(names: &str, name: &str) -> bool {
    names.split_whitespace().any(|known| known == name)
}

/// The variables of the library that a function without a model sets, by their names.
pub(crate) fn sets(name: &str) -> impl Iterator<Item = &'static str> {
    SETTERS
        .iter()
        .filter(move |(functions, _)| is_one_of(functions, name))
        .flat_map(|(_, variables)| variables.split_whitespace())
}

/// Whether a function of that name may set `errno`, if it has no model.
pub(crate) fn may_fail(name: &str) -> bool {
    let one_of = |name: &str| is_one_of(FAILING, name);
    let real = name.strip_suffix(['f', 'l']);
    writes(name) || one_of(name) || real.is_some_and(one_of)
}

/// Whether a function of that name writes through its arguments.
pub(crate) fn writes(name: &str) -> bool {
    is_one_of(WRITERS, name)
}
