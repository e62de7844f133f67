// time.h: clocks, and dates, which the library keeps in one place for all callers.

//@
//= clocks show any time
long time(long *result) {
  long now = __VERIFIER_nondet_long();
  if (result != 0)
    *result = now;
  return now;
}

//@
//= clocks show any time
long clock(void) {
  return __VERIFIER_nondet_long();
}

//@
double difftime(long end, long start) {
  return (double)end - (double)start;
}

//@
//= clocks show any time
int clock_gettime(int clock, void *result) {
  long *parts = result;
  // Linux has twelve of them.
  if ((clock < 0 || clock > 11) && __VERIFIER_nondet_int() == 0) {
    FAILS();
    return -1;
  }
  parts[0] = __VERIFIER_nondet_long();
  parts[1] = __VERIFIER_nondet_long();
  __VERIFIER_assume(parts[1] >= 0 && parts[1] < 1000000000);
  return 0;
}
int gettimeofday(void *result, void *zone) {
  long *parts = result;
  parts[0] = __VERIFIER_nondet_long();
  parts[1] = __VERIFIER_nondet_long();
  __VERIFIER_assume(parts[1] >= 0 && parts[1] < 1000000);
  return 0;
}

//@
//= a date is any date, in a time zone that is called UTC
typedef struct { int fields[9]; long offset; const char *zone; } hardbop_date;
static hardbop_date the_date;
static char the_text[26];
static void set_field(hardbop_date *date, int field, int least, int most) {
  int value = __VERIFIER_nondet_int();
  __VERIFIER_assume(value >= least && value <= most);
  date->fields[field] = value;
}
static hardbop_date *set_date(hardbop_date *date, int local) {
  set_field(date, 0, 0, 60);
  set_field(date, 1, 0, 59);
  set_field(date, 2, 0, 23);
  set_field(date, 3, 1, 31);
  set_field(date, 4, 0, 11);
  date->fields[5] = __VERIFIER_nondet_int();
  set_field(date, 6, 0, 6);
  set_field(date, 7, 0, 365);
  set_field(date, 8, 0, local);
  date->offset = local ? __VERIFIER_nondet_long() : 0;
  date->zone = "UTC";
  return date;
}
static hardbop_date *date_of(const long *time, hardbop_date *date, int local) {
  // A year does not fit into an `int`.
  if (*time > 67767976233000000 || *time < -67768040609000000) {
    if (__VERIFIER_nondet_int() == 0) {
      FAILS();
      return 0;
    }
  }
  return set_date(date, local);
}
static char *write_date(char *text) {
  __VERIFIER_nondet_memory(text, 24);
  text[24] = 10;
  text[25] = 0;
  return text;
}
// What is no date becomes one, and where none can be said, nothing may be changed.
static long normal(hardbop_date *date, int local) {
  long time = __VERIFIER_nondet_long();
  if (time == -1) {
    MAY_FAIL(1);
    if (__VERIFIER_nondet_int() == 0)
      return -1;
  }
  set_date(date, local);
  return time;
}
void *gmtime(const long *time) {
  return date_of(time, &the_date, 0);
}
void *localtime(const long *time) {
  return date_of(time, &the_date, 1);
}
void *gmtime_r(const long *time, void *date) {
  return date_of(time, date, 0);
}
void *localtime_r(const long *time, void *date) {
  return date_of(time, date, 1);
}
char *asctime(const void *date) {
  return write_date(the_text);
}
char *asctime_r(const void *date, char *text) {
  return write_date(text);
}
char *ctime(const long *time) {
  return date_of(time, &the_date, 1) == 0 ? 0 : write_date(the_text);
}
char *ctime_r(const long *time, char *text) {
  hardbop_date date;
  return date_of(time, &date, 1) == 0 ? 0 : write_date(text);
}
long mktime(void *date) {
  return normal(date, 1);
}
long timelocal(void *date) {
  return normal(date, 1);
}
long timegm(void *date) {
  return normal(date, 0);
}

//@
//= a date is written as any text
size_t strftime(char *text, size_t room, const char *format, const void *date) {
  MAY_FAIL(1);
  size_t length = __VERIFIER_nondet_ulong();
  // What does not fit may be there in part.
  if (length >= room) {
    size_t part = __VERIFIER_nondet_ulong();
    __VERIFIER_assume(part <= room);
    __VERIFIER_nondet_memory(text, part);
    return 0;
  }
  __VERIFIER_nondet_memory(text, length);
  text[length] = 0;
  return length;
}
