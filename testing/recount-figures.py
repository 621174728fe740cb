"""Recounts the figures of docs/figures.md from an export, independently of the service.

Reads the files that `export <app> --to <folder>` writes, and prints the figures after refunds as JSON: payments and
refunds by month and currency, MRR with its movement and churn by month, retention by month of the first payment,
lifetime value by month of the customer, and conversion by month of the trial. Filters such as `platform=store_a` select
the transactions whose columns have these values, and their subscriptions. Standard library only.

Usage: python3 recount-figures.py <folder> [--sandbox] [<column>=<value> ...]
"""

import calendar
import gzip
import json
import sys
from collections import defaultdict
from datetime import datetime, timedelta, timezone
from fractions import Fraction
from pathlib import Path

DAY = 86_400_000
HOUR = 3_600_000
MONTHS = {28: 1, 29: 1, 30: 1, 31: 1, 59: 2, 60: 2, 61: 2, 62: 2, 89: 3, 90: 3, 91: 3, 92: 3, 120: 4, 121: 4, 122: 4}
MONTHS |= {123: 4, 181: 6, 182: 6, 183: 6, 184: 6, 365: 12, 366: 12, 730: 24, 731: 24, 1095: 36, 1096: 36}


def read_table(folder, table, *key):
    """Returns the newest row of each key, with dates in epoch milliseconds."""
    rows = {}
    for path in sorted(folder.glob(f"dt=*/{table}.*jsonl.gz")):
        with gzip.open(path, "rt") as lines:
            for row in map(json.loads, lines):
                name = tuple(row[field] for field in key)
                if name not in rows or rows[name]["seq"] <= row["seq"]:
                    rows[name] = row
    return [to_times(row) for row in rows.values()]


def to_times(row):
    return {name: to_ms(value) if is_date(name) and value else value for name, value in row.items()}


def is_date(name):
    return name.endswith("Date") or name == "createdAt"


def to_ms(text):
    return int(datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp() * 1000)


def to_micros(usd):
    return int(Fraction(str(usd or 0)) * 1_000_000)


def read_payment(row):
    """Returns a transaction with its amount and refunds in micros of US dollars."""
    amount = to_micros(row["amountUSD"])
    refunds = [(to_ms(refund["date"]), to_micros(refund["amountUSD"])) for refund in row["refunds"]]
    is_whole = amount > 0 and sum(micros for _, micros in refunds) >= amount
    return {
        **row,
        "amount": amount,
        "refunds": refunds,
        "local": {"amount": row["amountMicros"], "refunds": [(to_ms(refund["date"]), refund["amountMicros"]) for refund in row["refunds"]]},
        "net": amount - sum(micros for _, micros in refunds),
        "refundedAt": max(date for date, _ in refunds) if is_whole else None,
    }


def round_half_up(value):
    return (2 * value.numerator + value.denominator) // (2 * value.denominator)


def to_month(ms):
    return datetime.fromtimestamp(ms / 1000, timezone.utc).strftime("%Y-%m")


def add_months(ms, months):
    date = datetime.fromtimestamp(ms / 1000, timezone.utc)
    index = date.year * 12 + date.month - 1 + months
    year, month = divmod(index, 12)
    day = min(date.day, calendar.monthrange(year, month + 1)[1])
    whole = date.replace(year=year, month=month + 1, day=day)
    return int((whole - datetime(1970, 1, 1, tzinfo=timezone.utc)) / timedelta(milliseconds=1))


def monthly(payment, until, money=None):
    """Monthly micros of US dollars, or of `money`, after the partial refunds before `until`."""
    whole, money = payment["refundedAt"], money or payment
    refunded = sum(micros for date, micros in money["refunds"] if date < until and date != whole)
    start = payment.get("periodStartDate", payment["purchaseDate"])
    days = max(1, (payment["expirationDate"] - start + DAY // 2) // DAY)
    months = MONTHS.get(days)
    factor = Fraction(1, months) if months else Fraction(304375, 10_000 * days)
    return round_half_up((money["amount"] - refunded) * factor)


def compare(before, end, payment):
    """Returns the change of the monthly amount by the price at the new rate, and by the exchange rate."""
    start = payment["purchaseDate"]
    amount = monthly(payment, start)
    change = amount - monthly(before, end)
    if payment["currency"] == "USD" or payment["currency"] != before["currency"]:
        return change, 0
    own = monthly(payment, start, payment["local"])
    difference = own - monthly(before, end, before["local"])
    price = round_half_up(Fraction(amount * abs(difference), own)) * (1 if difference > 0 else -1)
    return price, change - price


def is_payment(row):
    return not row.get("isTrialPeriod") and not row.get("isPending") and row["amountMicros"] != 0


def by_date(rows):
    return sorted(rows, key=lambda row: (row["purchaseDate"], row["transactionId"]))


def is_renewing(purchase):
    return purchase.get("productType", "paid subscription") == "paid subscription" and "expirationDate" in purchase


def list_periods(purchase, payments):
    """The paid periods of an auto-renewing subscription, each with its end."""
    paid = [row for row in payments if row.get("expirationDate")]
    periods = []
    for row, following in zip(paid, paid[1:] + [None]):
        is_latest = purchase["transactionId"] == row["transactionId"]
        # The purchase has the end of a grace period or of an extension.
        granted = [purchase["expirationDate"]] if is_latest else []
        if following and row["platform"] == "processor_b":
            # Braintree bills at some hour of the day after the last paid day. The subscription is active until then.
            granted.append(row["expirationDate"] + DAY)
        ends = [max([row["expirationDate"], *granted])]
        if row["refundedAt"]:
            ends.append(row["refundedAt"])
        if "endDate" in purchase and is_latest:
            ends.append(purchase["endDate"])
        if following and following["purchaseDate"] <= ends[0] + HOUR:
            ends.append(following["purchaseDate"])
        if min(ends) > row["purchaseDate"]:
            periods.append((row, min(ends)))
    return periods


def main(folder, is_sandbox, filters):
    purchases = {row["purchaseId"]: row for row in read_table(folder, "purchases", "purchaseId")}
    # Paid time that ends on the day of the export can still be renewed.
    now = max((row["seq"] for row in purchases.values()), default=0)
    today = now // DAY * DAY
    by_purchase = defaultdict(list)
    for row in read_table(folder, "transactions", "purchaseId", "transactionId"):
        by_purchase[row["purchaseId"]].append(read_payment(row))
    movement = defaultdict(lambda: defaultdict(int))
    cohorts = defaultdict(lambda: {"size": 0, "active": defaultdict(int), "revenue": defaultdict(int)})
    trials = defaultdict(lambda: {"trials": 0, "converted": 0})
    paid_by_customer = defaultdict(list)
    revenue = defaultdict(build_revenue)
    for purchase_id, rows in by_purchase.items():
        purchase = purchases[purchase_id]
        if purchase["sandbox"] != is_sandbox or purchase.get("isSharedPurchase"):
            continue
        payments = by_date(filter(is_payment, rows))
        matches = all(row[name] == value for row in rows for name, value in filters.items())
        # Without an owner, a payment counts for no customer.
        owner = next(iter(purchase["entitledUsers"]), None)
        paid_by_customer[owner] += [{**payment, "matches": matches} for payment in payments]
        if not matches:
            continue
        add_revenue(revenue, payments)
        if not is_renewing(purchase):
            continue
        periods = list_periods(purchase, payments)
        add_trial(trials, rows, payments)
        previous = None
        for index, (row, end) in enumerate(periods):
            start, amount = row["purchaseDate"], monthly(row, row["purchaseDate"])
            month = movement[to_month(start)]
            if previous is None:
                month["new"] += amount
                month["began"] += 1
            elif start - previous[1] > HOUR:
                month["reactivated"] += amount
                month["began"] += 1
            else:
                change, exchange = compare(previous[0], previous[1], row)
                month["expansion" if change > 0 else "contraction"] += abs(change)
                month["exchange"] += exchange
            for date in sorted({date for date, _ in row["refunds"]}):
                if start <= date < end:
                    movement[to_month(date)]["contraction"] += monthly(row, date) - monthly(row, date + 1)
            following = periods[index + 1][0]["purchaseDate"] if index + 1 < len(periods) else None
            if end < today and (following is None or following - end > HOUR):
                month = movement[to_month(end)]
                month["churned"] += monthly(row, end)
                month["left"] += 1
                failed = purchase.get("isBillingRetryPeriod") or purchase.get("cancelationReason") == "System.BillingError"
                if failed and purchase["transactionId"] == row["transactionId"]:
                    month["involuntary"] += 1
            previous = (row, end)
        add_cohort(cohorts, periods, now)
    figures = {
        "revenue": [{"date": f"{month}-01", **sums} for month, sums in sorted(revenue.items())],
        "months": build_months(movement),
        "cohorts": build_cohorts(cohorts),
        "customers": build_customers(read_table(folder, "customers", "applicationUsername"), paid_by_customer),
        "trials": [{"start": f"{month}-01", **counts} for month, counts in sorted(trials.items())],
    }
    print(json.dumps(figures))


def build_revenue():
    currencies = defaultdict(lambda: {"grossMicros": 0, "refundsMicros": 0})
    return {"grossUSD": 0, "refundsUSD": 0, "currencies": currencies}


def add_revenue(revenue, payments):
    """Adds payments to the month of their purchase date, and each refund to its own month, in micros."""
    for payment in payments:
        sums = revenue[to_month(payment["purchaseDate"])]
        sums["grossUSD"] += payment["amount"]
        sums["currencies"][payment["currency"]]["grossMicros"] += payment["amountMicros"]
        for date, micros in payment["refunds"]:
            revenue[to_month(date)]["refundsUSD"] += micros
        for date, micros in payment["local"]["refunds"]:
            revenue[to_month(date)]["currencies"][payment["currency"]]["refundsMicros"] += micros


def add_trial(trials, rows, payments):
    """Counts the trial with which a subscription starts, and whether a payment followed it."""
    first = min((row["purchaseDate"] for row in rows if row.get("isTrialPeriod")), default=None)
    if first is None or (payments and payments[0]["purchaseDate"] <= first):
        return
    counts = trials[to_month(first)]
    counts["trials"] += 1
    paid = next((payment for payment in payments if payment["refundedAt"] != payment["purchaseDate"]), None)
    counts["converted"] += 1 if paid and paid["refundedAt"] is None else 0


def build_customers(customers, paid_by_customer):
    """Returns the payers of each month of first payment, and what they have paid by month of their age."""
    cohorts = defaultdict(lambda: {"customers": 0, "payers": 0, "revenue": defaultdict(int)})
    for customer in customers:
        payments = by_date(paid_by_customer[customer["applicationUsername"]])
        since = min([customer["createdAt"], *(payment["purchaseDate"] for payment in payments)])
        cohort = cohorts[to_month(since)]
        cohort["customers"] += 1
        cohort["payers"] += 1 if payments and payments[0]["matches"] else 0
        for payment in filter(lambda row: row["matches"], payments):
            age = 0
            while add_months(since, age + 1) <= payment["purchaseDate"]:
                age += 1
            cohort["revenue"][age] += payment["net"]
    return [build_customer_cohort(month, cohort) for month, cohort in sorted(cohorts.items()) if cohort["payers"]]


def build_customer_cohort(month, cohort):
    ages, paid = [], 0
    for age in range(max(cohort["revenue"], default=0) + 1):
        paid += cohort["revenue"][age]
        per_customer, per_payer = (to_usd(Fraction(paid, cohort[name])) for name in ("customers", "payers"))
        amounts = {"revenuePerCustomerUSD": per_customer, "revenuePerPayerUSD": per_payer}
        ages.append({"month": age, "revenueUSD": paid / 1_000_000, **amounts})
    return {"start": f"{month}-01", "customers": cohort["customers"], "payers": cohort["payers"], "ages": ages}


def add_cohort(cohorts, periods, now):
    if not periods:
        return
    first = periods[0][0]["purchaseDate"]
    cohort = cohorts[to_month(first)]
    cohort["size"] += 1
    # The figures have no period that starts after the export.
    latest = 0
    while add_months(to_ms(f"{to_month(first)}-01T00:00:00Z"), latest + 1) <= now:
        latest += 1
    for index in range(1, latest + 1):
        middle = add_months(first, index) + 15 * DAY
        if any(row["purchaseDate"] <= middle < end for row, end in periods):
            cohort["active"][index] += 1
    for row, _ in periods:
        index = 0
        while add_months(first, index + 1) <= row["purchaseDate"] + 3 * DAY:
            index += 1
        if index <= latest:
            cohort["revenue"][index] += row["net"]


def to_usd(micros):
    return round_half_up(Fraction(micros, 10_000)) / 100


def build_months(movement):
    rows, mrr, paying = [], 0, 0
    names = ["new", "expansion", "contraction", "churned", "reactivated", "exchange"]
    for month in sorted(movement):
        sums = movement[month]
        opening = paying
        mrr += sums["new"] + sums["expansion"] + sums["reactivated"] + sums["exchange"] - sums["contraction"] - sums["churned"]
        paying += sums["began"] - sums["left"]
        rows.append(
            {
                "date": f"{month}-01",
                "mrrUSD": to_usd(mrr),
                "movement": {name: to_usd(sums[name]) for name in names},
                "activeAtStart": opening,
                "churned": sums["left"],
                "involuntary": sums["involuntary"],
            }
        )
    return rows


def build_cohorts(cohorts):
    return [
        {
            "start": f"{month}-01",
            "size": cohort["size"],
            "active": {str(index): count for index, count in sorted(cohort["active"].items())},
            "revenueUSD": {str(index): to_usd(micros) for index, micros in sorted(cohort["revenue"].items()) if micros},
        }
        for month, cohort in sorted(cohorts.items())
    ]


main(Path(sys.argv[1]), "--sandbox" in sys.argv, dict(text.split("=") for text in sys.argv[2:] if "=" in text))
