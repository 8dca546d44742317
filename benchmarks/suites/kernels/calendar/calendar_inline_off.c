/* calendar: the date `days` after 1 January 1970 (negative: before). Returns the day number computed back from it. */
typedef struct {
    short year;
    signed char month, day;   /* from 1 */
    signed char weekday;      /* 0: Sunday */
    short day_of_year;        /* from 1 */
    _Bool leap;
} date_t;

typedef struct {
    int quotient, rest;
} division_t;

static division_t floor_divide(int a, int b)
{
#pragma HLS inline off
    division_t d = {a / b, a % b};
    if (d.rest < 0) {
        d.rest += b;
        d.quotient--;
    }
    return d;
}

static _Bool is_leap(int year)
{
    return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

static int days_before_month(int month, _Bool leap)
{
    static const short before[12] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};
    return before[month - 1] + (leap && month > 2);
}

static int day_number(const date_t *date)
{
    int y = date->year - 1;
    division_t four = floor_divide(y, 4), hundred = floor_divide(y, 100), cycle = floor_divide(y, 400);
    int days = 365 * y + four.quotient - hundred.quotient + cycle.quotient;
    return days + days_before_month(date->month, date->leap) + date->day - 1 - 719162;
}

int calendar(int days, date_t *date)
{
    date_t result;
    /* Count from 1 March 2000, with which a cycle of 400 years begins; the leap day is then a year's last. */
    division_t cycle = floor_divide(days - 11017, 146097);
    int rest = cycle.rest;
    int century = rest / 36524;
    if (century == 4)
        century = 3;
    rest -= century * 36524;
    int four = rest / 1461;
    rest -= four * 1461;
    int one = rest / 365;
    if (one == 4)
        one = 3;
    rest -= one * 365;

    int month = (5 * rest + 2) / 153; /* from March */
    result.day = (signed char)(rest - (153 * month + 2) / 5 + 1);
    int year = 2000 + 400 * cycle.quotient + 100 * century + 4 * four + one;
    if (month < 10) {
        result.month = (signed char)(month + 3);
    } else {
        result.month = (signed char)(month - 9);
        year++;
    }
    result.year = (short)year;
    result.leap = is_leap(year);
    result.weekday = (signed char)floor_divide(days + 4, 7).rest;
    result.day_of_year = (short)(days_before_month(result.month, result.leap) + result.day);
    *date = result;
    return day_number(date);
}

struct counter {
    int year, month, day, of_year;
};

static int month_length(int year, int month)
{
    int leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return month == 2 ? 28 + leap : 30 + ((month + month / 8) & 1);
}

int main(void)
{
    /* Walk day by day from 1 January 1600 and compare now and then, and around each turn of a century. */
    struct counter c = {1600, 1, 1, 1};
    int calls = 0;
    for (int days = -135140; days < 90000; days++) {
        if (days % 3461 == 0 || (c.year % 100 == 0 && ((c.month == 2 && c.day > 27) || (c.month == 3 && c.day == 1)))
            || (c.year == 1999 && c.of_year > 364)) {
            date_t date = {0};
            if (calendar(days, &date) != days)
                return 1;
            if (date.year != c.year || date.month != c.month || date.day != c.day || date.day_of_year != c.of_year)
                return 2;
            if (date.weekday != (days + 700004) % 7 || date.leap != (month_length(c.year, 2) == 29))
                return 3;
            calls++;
        }
        c.day++;
        c.of_year++;
        if (c.day > month_length(c.year, c.month)) {
            c.day = 1;
            c.month++;
        }
        if (c.month > 12) {
            c.month = 1;
            c.year++;
            c.of_year = 1;
        }
    }
    return calls > 70 ? 0 : 4;
}
