"""Recounts the figures of docs/figures.md from exported rows, independently of the service.

Reads purchases.jsonl and transactions.jsonl in the folder that is passed, and prints the figures as JSON:
MRR with its movement and churn by month, and retention by month of the first payment. Standard library only.
"""

import calendar
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


def read_rows(path):
    return [json.loads(line) for line in path.read_text().splitlines() if line]


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


def monthly(transaction, until):
    """Monthly micros of US dollars after the partial refunds before `until`."""
    total = transaction.get("amountMicros") or 0
    refunded = 0
    for refund in transaction.get("partialRefunds", []):
        if refund["date"] < until and refund.get("status") != "returned":
            refunded = min(total, refunded + refund["amountMicros"])
    days = max(1, (transaction["expirationDate"] - transaction["purchaseDate"] + DAY // 2) // DAY)
    months = MONTHS.get(days)
    factor = Fraction(1, months) if months else Fraction(304375, 10_000 * days)
    return round_half_up((total - refunded) * factor)


def list_periods(purchase, transactions):
    """The paid periods of an auto-renewing subscription, each with its end."""
    paid = [row for row in transactions if not row.get("isTrialPeriod") and row.get("amountMicros") != 0]
    paid = sorted((row for row in paid if "expirationDate" in row), key=lambda row: (row["purchaseDate"], row["transactionId"]))
    periods = []
    for row, following in zip(paid, paid[1:] + [None]):
        ends = [row["expirationDate"], row.get("refundedAt", row["expirationDate"])]
        if purchase["transactionId"] == row["transactionId"]:
            ends.append(purchase.get("endedAt", row["expirationDate"]))
        if following and following["purchaseDate"] <= row["expirationDate"] + HOUR:
            ends.append(following["purchaseDate"])
        if min(ends) > row["purchaseDate"]:
            periods.append((row, min(ends)))
    return periods


def main(folder):
    purchases = {row["purchaseId"]: row for row in read_rows(folder / "purchases.jsonl")}
    by_purchase = defaultdict(list)
    for row in read_rows(folder / "transactions.jsonl"):
        by_purchase[row["purchaseId"]].append(row)
    movement = defaultdict(lambda: defaultdict(int))
    cohorts = defaultdict(lambda: {"size": 0, "active": defaultdict(int), "revenue": defaultdict(int)})
    for purchase_id, transactions in by_purchase.items():
        purchase = purchases[purchase_id]
        is_renewing = purchase.get("productType") == "paid subscription"
        if purchase["sandbox"] or purchase.get("isSharedPurchase") or not is_renewing:
            continue
        periods = list_periods(purchase, transactions)
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
                change = amount - monthly(previous[0], previous[1])
                month["expansion" if change > 0 else "contraction"] += abs(change)
            for date in sorted({refund["date"] for refund in row.get("partialRefunds", [])}):
                if start <= date < end:
                    movement[to_month(date)]["contraction"] += monthly(row, date) - monthly(row, date + 1)
            following = periods[index + 1][0]["purchaseDate"] if index + 1 < len(periods) else None
            if following is None or following - end > HOUR:
                month = movement[to_month(end)]
                month["churned"] += monthly(row, end)
                month["left"] += 1
                failed = purchase.get("isBillingRetryPeriod") or purchase.get("cancelationReason") == "System.BillingError"
                if failed and purchase["transactionId"] == row["transactionId"]:
                    month["involuntary"] += 1
            previous = (row, end)
        add_cohort(cohorts, periods)
    print(json.dumps({"months": build_months(movement), "cohorts": build_cohorts(cohorts)}))


def add_cohort(cohorts, periods):
    if not periods:
        return
    first = periods[0][0]["purchaseDate"]
    cohort = cohorts[to_month(first)]
    cohort["size"] += 1
    for index in range(1, 40):
        middle = add_months(first, index) + 15 * DAY
        if any(row["purchaseDate"] <= middle < end for row, end in periods):
            cohort["active"][index] += 1
    for row, _ in periods:
        index = 0
        while add_months(first, index + 1) <= row["purchaseDate"] + 3 * DAY:
            index += 1
        total = row.get("amountMicros") or 0
        refunded = sum(refund["amountMicros"] for refund in row.get("partialRefunds", []))
        cohort["revenue"][index] += 0 if "refundedAt" in row else total - min(total, refunded)


def to_usd(micros):
    return round_half_up(Fraction(micros, 10_000)) / 100


def build_months(movement):
    rows, mrr, paying = [], 0, 0
    names = ["new", "expansion", "contraction", "churned", "reactivated"]
    for month in sorted(movement):
        sums = movement[month]
        opening = paying
        mrr += sums["new"] + sums["expansion"] + sums["reactivated"] - sums["contraction"] - sums["churned"]
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


main(Path(sys.argv[1]))
