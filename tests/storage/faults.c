/* Preloaded into a Python process: makes one kind of file call fail, as a full disk or a broken one would. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char armed[16];
static int error_number, skip, sticky;

/* Let `call` fail with `error` after `skipped` good ones, once, or from then on when `stays`. */
void fault_arm(const char *call, int error, int skipped, int stays) {
    snprintf(armed, sizeof armed, "%s", call);
    error_number = error;
    skip = skipped;
    sticky = stays;
}

static int hit(const char *call) {
    if (strcmp(armed, call) != 0 || skip-- > 0) return 0;
    if (!sticky) armed[0] = 0;
    errno = error_number;
    return 1;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static int opened(int (*real)(const char *, int, ...), const char *path, int flags, int mode) {
    if ((flags & O_CREAT) && hit("open")) return -1;
    return real(path, flags, mode);
}

int open(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    int mode = va_arg(rest, int);
    va_end(rest);
    return opened(REAL(open), path, flags, mode);
}

int open64(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    int mode = va_arg(rest, int);
    va_end(rest);
    return opened(REAL(open64), path, flags, mode);
}

ssize_t write(int file, const void *bytes, size_t count) {
    if (hit("write")) return -1;
    if (strcmp(armed, "half") == 0 && count > 1) {
        if (error_number) snprintf(armed, sizeof armed, "write"); /* the first half is written, the second fails */
        return REAL(write)(file, bytes, count / 2);
    }
    return REAL(write)(file, bytes, count);
}

ssize_t read(int file, void *bytes, size_t count) {
    if (hit("read")) return -1;
    return REAL(read)(file, bytes, count);
}

int fsync(int file) {
    struct stat found;
    if (fstat(file, &found) == 0 && hit(S_ISDIR(found.st_mode) ? "fsyncdir" : "fsync")) return -1;
    return REAL(fsync)(file);
}

int close(int file) {
    int done = REAL(close)(file);
    return hit("close") ? -1 : done;
}

int rename(const char *from, const char *to) { return hit("rename") ? -1 : REAL(rename)(from, to); }
