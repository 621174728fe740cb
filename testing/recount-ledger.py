"""Recounts the figures of docs/figures.md from the records of the emulated stores, independently of the service.

Reads {"now": ms, "products": {id: {"priceMicros", "period"}}, "purchases": [...]} from standard input, with
"filter": {"platform", "products": [id]} for the payments of one platform and some products only. A purchase is the
response of GET /control/purchases/{id} with its `platform`, all in US dollars. Prints the figures by month and by
cohort as JSON, for payments before refunds, after refunds and as proceeds. Standard library only.
"""

import calendar
import json
import sys
from collections import defaultdict
from datetime import datetime, timedelta, timezone
from fractions import Fraction

DAY = 86_400_000
HOUR = 3_600_000
EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
LENGTHS = [(1, 28, 31), (2, 59, 62), (3, 89, 92), (4, 120, 123), (6, 181, 184), (12, 365, 366), (24, 730, 731)]
FAR = "9999-01-01T00:00:00Z"
AMOUNTS = ("before_refunds", "after_refunds", "proceeds")
MONEY = ("gross", "refunds", "commission", "tax", "proceeds")
# The part of a sale that the developer keeps.
KEPT = {"processor_a": Fraction(971, 1000), "store_a": Fraction(70, 100), "store_b": Fraction(85, 100)}


def to_ms(text):
    return round((datetime.fromisoformat(text.replace("Z", "+00:00")) - EPOCH) / timedelta(milliseconds=1))


def to_month(ms):
    return (EPOCH + timedelta(milliseconds=ms)).strftime("%Y-%m")


def to_usd(micros):
    return int(Fraction(micros) / 10_000 + Fraction(1, 2)) / 100 if micros >= 0 else -to_usd(-micros)


def to_cents(micros):
    return int(micros / 10_000 + Fraction(1, 2)) * 10_000


def to_whole(micros):
    return int(micros + Fraction(1, 2)) if micros >= 0 else -int(-micros + Fraction(1, 2))


def add_months(ms, months):
    date = EPOCH + timedelta(milliseconds=ms)
    year, month = divmod(date.year * 12 + date.month - 1 + months, 12)
    day = min(date.day, calendar.monthrange(year, month + 1)[1])
    return round((date.replace(year=year, month=month + 1, day=day) - EPOCH) / timedelta(milliseconds=1))


def add_period(ms, period):
    number, unit = int(period[1:-1]), period[-1]
    days = {"D": 1, "W": 7}.get(unit)
    return ms + number * days * DAY if days else add_months(ms, number * (12 if unit == "Y" else 1))


def to_monthly(micros, length):
    days = max(1, round(length / DAY))
    months = next((months for months, least, most in LENGTHS if least <= days <= most), None)
    return Fraction(micros) / months if months else Fraction(micros) * Fraction("30.4375") / days


class Sale:
    """What one payment, or all payments of one invoice, paid."""

    def __init__(self, platform, paid_at, gross, tax, refunds, withdrawn=()):
        self.platform, self.paid_at, self.gross, self.tax = platform, paid_at, gross, tax
        # A dispute that is not decided withdraws money, but the customer keeps the period.
        self.refunds = sorted([*refunds, *withdrawn])
        self.is_whole = gross > 0 and sum(micros for _, micros in refunds) >= gross
        # Set for a period of a subscription: its end, its whole length, and the price of a whole period.
        self.end = self.length = self.price = self.price_tax = None
        # Set for the charge of a change within a period: the sale of the whole period, and the monthly amounts before.
        self.whole = self.before = None
        # Set for a period that a credit pays: the sale that the credit is from.
        self.payer = None
        self.kept = KEPT.get(platform)
        self.product = None

    def refunded(self, until):
        return sum(micros for date, micros in self.refunds if date < until)

    def refunded_at(self):
        return self.refunds[-1][0] if self.is_whole else None

    def to_proceeds(self, micros, tax):
        return micros * self.kept - tax if self.platform == "processor_a" else (micros - tax) * self.kept

    def amounts(self):
        net = self.gross - self.refunded(float("inf"))
        tax = Fraction(self.tax * net, self.gross) if self.gross else 0
        return self.gross, net, self.to_proceeds(net, tax)

    def monthly(self, until):
        """A refund of the whole payment ends the period and does not lower its amount."""
        whole = None if self.whole else self.refunded_at()
        refunded = sum(micros for date, micros in self.refunds if date < until and date != whole)
        part = Fraction(refunded, self.gross) if self.gross else 0
        parts = self.price, self.price, self.to_proceeds(self.price, self.price_tax)
        full = [to_monthly(micros, self.length) for micros in parts]
        # The refund of a change leaves what the payment of the whole period pays.
        before = self.before or [0] * 3
        return [full[0], *(amount * (1 - part) + old * part for amount, old in list(zip(full, before))[1:])]

    def money(self, until):
        """What the payment is, less the refunds before `until`: gross, refunds, commission, tax, proceeds."""
        net = self.gross - self.refunded(until)
        tax = to_whole(Fraction(self.tax * net, self.gross)) if self.gross else 0
        kept = to_whole(net * self.kept) - tax if self.platform == "processor_a" else to_whole((net - tax) * self.kept)
        return self.gross, self.gross - net, net - tax - kept, tax, kept

    def ended_at(self):
        """When a refund ended the period: that of the payment of the whole period, or of the payment of its credit."""
        return (self.whole or self.payer or self).refunded_at()


def list_withdrawn(payment):
    """What disputes withdrew of a payment. After a full refund, a dispute returns nothing more of it."""
    if sum(refund["amountMicros"] for refund in payment["refunds"]) >= payment["amountMicros"]:
        return []
    disputes = [dispute for dispute in payment["disputes"] if dispute["status"] != "won"]
    return [(to_ms(part["createdAt"]), -part["amountMicros"]) for dispute in disputes for part in dispute["balances"]]


def read_stripe(purchase, products, now):
    """Returns the sales of a subscription at Stripe by date, and the start of the trial with which it starts."""
    sales, trial, wholes = [], None, {}
    by_invoice = defaultdict(list)
    for payment in purchase["payments"]:
        by_invoice[payment["invoiceId"]].append(payment)
    invoices = sorted(purchase["invoices"], key=lambda invoice: to_ms(invoice["createdAt"]))
    for index, invoice in enumerate(invoices):
        if invoice["status"] != "paid":
            continue
        payments = by_invoice[invoice["id"]]
        paid_at = max([to_ms(payment["paidAt"]) for payment in payments] or [to_ms(invoice["paidAt"])])
        refunds = [to_refund(refund) for payment in payments for refund in payment["refunds"]]
        withdrawn = [part for payment in payments for part in list_withdrawn(payment)]
        gross = sum(payment["amountMicros"] for payment in payments)
        tax = sum(tax["amountMicros"] for tax in invoice["taxes"])
        # A balance of the customer that pays a part of the invoice pays the same part of its tax.
        tax = to_cents(Fraction(tax * gross, invoice["totalMicros"])) if invoice["totalMicros"] > 0 else 0
        sale = Sale("processor_a", paid_at, gross, tax, refunds, withdrawn)
        timed = list_timed(invoice)
        whole = [line for line in timed if not line["isProration"]]
        charged = [line for line in timed if line["amountMicros"] > 0]
        if whole and all(line["amountMicros"] == 0 for line in whole):
            trial = to_ms(whole[0]["periodStart"]) if not sales and trial is None else trial
        elif whole or charged:
            line = (whole or charged)[-1]
            sale.product = line["productId"]
            start, sale.end = to_ms(line["periodStart"]), to_ms(line["periodEnd"])
            if whole:
                if gross == 0:
                    credited_at = max([to_ms(other["createdAt"]) for other in invoices[: index + 1] if other["totalMicros"] < 0] or [0])
                    paid = [(end, other) for end, other in wholes.items() if other.gross]
                    # What is left of the credit stays in the balance after the period of the former plan.
                    sale.payer = next((other for end, other in reversed(paid) if end > start), None)
                    since = [other for other in sales if paid and other.gross and other.paid_at >= paid[-1][1].paid_at]
                    if sale.payer is None and since and credited_at >= since[0].paid_at and all(other.is_whole for other in since):
                        sale.payer = paid[-1][1]
                wholes[sale.end] = sale
            else:
                sale.whole = wholes.get(sale.end)
            rate = sum(Fraction(str(tax["percentage"])) / 100 for tax in line["taxes"])
            if whole:
                net_price, sale.length = line["amountMicros"], sale.end - start
            else:
                product = products[line["productId"]]
                net_price, sale.length = product["priceMicros"], add_period(start, product["period"]) - start
            sale.price_tax = to_cents(net_price * rate)
            sale.price = net_price + sale.price_tax
            # An invoice that is paid after its period, or after a subscription was canceled, pays no time. A trial that
            # is granted in the period extends it, also before the payment.
            later, extended = invoices[index + 1 :], sale.end
            if start <= to_ms(purchase.get("trialStart", FAR)) < sale.end:
                extended = max(extended, find_extension(purchase, later, sale.end))
            if paid_at < min(extended, to_ms(purchase.get("endedAt", FAR))):
                sale.end = max(sale.end, find_extension(purchase, later, sale.end))
                sale.end = max(sale.end, find_due(purchase, later, sale.end, now))
            else:
                sale.end = None
        sales.append(sale)
    return sales, trial


def list_timed(invoice):
    """The lines of a period: those of a fee have none."""
    return [line for line in invoice["lines"] if line["itemId"] and line["periodEnd"] > line["periodStart"]]


def list_starts(invoice, end):
    """The starts of the periods that an invoice bills after a paid one."""
    return [to_ms(line["periodStart"]) for line in list_timed(invoice) if to_ms(line["periodEnd"]) > end]


def find_extension(purchase, later, end):
    """A trial that is granted in a paid period extends it until the next period: Stripe bills nothing for it.

    Only the later invoices bill the next period: a former plan can have a longer period, which ends after this one."""
    starts = [start for invoice in later for start in list_starts(invoice, end)]
    if starts:
        return min(starts)
    return to_ms(purchase["currentPeriodEnd"] if purchase["state"] == "trialing" else purchase.get("endedAt", "1970-01-01T00:00:00Z"))


def find_due(purchase, later, end, now):
    """The subscription runs until an emailed invoice for the time after a paid period and its extension is due.

    Until then, an active subscription is expected to run for its current period, and one that is past due until the
    invoice is due, unless it is canceled before."""
    period_end, ended_at = to_ms(purchase["currentPeriodEnd"]), to_ms(purchase.get("endedAt", FAR))
    canceled_at = period_end if purchase.get("cancelAtPeriodEnd") else ended_at
    for invoice in later:
        starts = list_starts(invoice, end)
        if "dueDate" in invoice and starts and min(starts) <= end + HOUR:
            due = to_ms(invoice["dueDate"])
            is_known = due <= now or purchase["state"] == "past_due"
            return min(due if is_known else period_end, canceled_at, ended_at)
    return 0


def to_refund(refund):
    return to_ms(refund["createdAt"]), refund["amountMicros"]


def read_app_store(purchase, products, _now):
    sales, trial = [], None
    for line in sorted(purchase["lines"], key=lambda line: to_ms(line["purchaseDate"])):
        paid_at, gross = to_ms(line["purchaseDate"]), line["amountMicros"]
        if gross == 0:
            trial = paid_at if not sales and trial is None else trial
            continue
        revoked_at = to_ms(line["revokedAt"]) if "revokedAt" in line else None
        refunds = [(revoked_at, line["refundedMicros"])] if line["refundedMicros"] > 0 else []
        sale = Sale("store_a", paid_at, gross, 0, refunds)
        sale.end = min(to_ms(line["expiresDate"]), revoked_at or to_ms(FAR))
        sale.price, sale.price_tax, sale.product = gross, 0, line["productId"]
        sale.length = add_period(paid_at, products[line["productId"]]["period"]) - paid_at
        sales.append(sale)
    return sales, trial


def read_google_play(purchase, products, _now):
    sales, bought_at = [], to_ms(purchase["purchaseTime"])
    for payment in sorted(purchase["payments"], key=lambda payment: to_ms(payment["date"])):
        start = to_ms(payment["periodStart"])
        refunds = [to_refund(refund) for refund in payment["refunds"]]
        sale = Sale("store_b", to_ms(payment["date"]), payment["amountMicros"], payment["taxMicros"], refunds)
        sale.end, sale.price, sale.price_tax = to_ms(payment["periodEnd"]), sale.gross, sale.tax
        sale.product = payment["lines"][0]["productId"]
        sale.length = add_period(start, products[sale.product]["period"]) - start
        sales.append(sale)
    return sales, bought_at if not sales or sales[0].paid_at > bought_at + HOUR else None


def join_purchases(purchases):
    """Adds the payments of a purchase of Google Play that replaces another one to the replaced one."""
    by_id, joined = {}, []
    for purchase in sorted(purchases, key=lambda purchase: purchase.get("purchaseTime", "")):
        root = by_id.get(purchase.get("linkedPurchaseToken"))
        by_id[purchase["id"]] = root or purchase
        if root:
            root["payments"] += purchase["payments"]
        else:
            joined.append(purchase)
    return joined


READERS = {"processor_a": read_stripe, "store_a": read_app_store, "store_b": read_google_play}


def list_periods(sales):
    """Returns the paid periods with their ends, by date of payment."""
    paid = sorted((sale for sale in sales if sale.end is not None), key=lambda sale: sale.paid_at)
    periods = []
    for sale, following in zip(paid, paid[1:] + [None]):
        ends = [sale.end, sale.ended_at() or sale.end]
        if following and following.paid_at <= sale.end + HOUR:
            ends.append(following.paid_at)
        if min(ends) > sale.paid_at:
            if sale.whole and periods:
                sale.before = periods[-1][0].monthly(periods[-1][1])
            periods.append((sale, min(ends)))
    return periods


class Figures:
    def __init__(self, now, chosen=None):
        self.now, self.today, self.chosen = now, now // DAY * DAY, chosen
        self.revenue = defaultdict(lambda: [0] * len(MONEY))
        self.movement = defaultdict(lambda: [defaultdict(int) for _ in AMOUNTS])
        self.counts = defaultdict(lambda: defaultdict(int))
        self.cohorts = defaultdict(lambda: {"size": 0, "active": defaultdict(int), "revenue": defaultdict(lambda: [0] * 3)})
        self.trials = defaultdict(lambda: [0, 0])

    def matches(self, sale):
        return not self.chosen or (sale.platform == self.chosen["platform"] and sale.product in self.chosen["products"])

    def move(self, date, names, amounts):
        for sums, name, amount in zip(self.movement[to_month(date)], names, amounts):
            sums[name] += amount

    def add(self, sales, trial):
        for sale in filter(self.matches, sales):
            before = [0] * len(MONEY)
            for date, until in [(sale.paid_at, -1), *((date, date + 1) for date in sorted({date for date, _ in sale.refunds}))]:
                money = sale.money(until)
                sums = self.revenue[to_month(date)]
                self.revenue[to_month(date)] = [total + new - old for total, new, old in zip(sums, money, before)]
                before = money
        periods = list_periods(sales)
        if trial is not None:
            self.trials[to_month(trial)][0] += 1
            self.trials[to_month(trial)][1] += 1 if periods and periods[0][0].refunded_at() is None else 0
        for index, (sale, end) in enumerate(periods):
            self.add_period(periods, index)
        if periods and self.matches(periods[0][0]):
            self.add_cohort(periods)

    def add_period(self, periods, index):
        sale, end = periods[index]
        start, first = sale.paid_at, sale.monthly(sale.paid_at)
        before = periods[index - 1] if index > 0 else None
        is_in, was_in = self.matches(sale), before is not None and self.matches(before[0])
        if before and start - before[1] <= HOUR and is_in != was_in:
            # A change of the product moves the subscription into what is counted, or out of it.
            self.move(start, ["expansion" if is_in else "contraction"] * 3, first if is_in else before[0].monthly(before[1]))
            self.counts[to_month(start)]["began"] += 1 if is_in else -1
        if not is_in:
            return
        if before and start - before[1] <= HOUR:
            changes = [new - old for new, old in zip(first, before[0].monthly(before[1]))]
            names = ["expansion" if change > 0 else "contraction" for change in changes]
            if was_in:
                self.move(start, names, map(abs, changes))
        else:
            self.move(start, ["reactivated" if before else "new"] * 3, first)
            self.counts[to_month(start)]["began"] += 1
        for date in sorted({date for date, _ in sale.refunds}):
            if start <= date < end:
                changes = [old - new for old, new in zip(sale.monthly(date), sale.monthly(date + 1))]
                self.move(date, ["contraction"] * 3, changes)
        following = periods[index + 1][0].paid_at if index + 1 < len(periods) else None
        if end < self.today and (following is None or following - end > HOUR):
            self.move(end, ["churned"] * 3, sale.monthly(end))
            self.counts[to_month(end)]["churned"] += 1

    def add_cohort(self, periods):
        first = periods[0][0].paid_at
        cohort = self.cohorts[to_month(first)]
        cohort["size"] += 1
        # The figures list the periods that have started.
        latest = 0
        while add_months(to_ms(f"{to_month(first)}-01T00:00:00Z"), latest + 1) <= self.now:
            latest += 1
        for index in range(1, latest + 1):
            middle = add_months(first, index) + 15 * DAY
            if any(sale.paid_at <= middle < end for sale, end in periods):
                cohort["active"][index] += 1
        for sale, _ in periods:
            index = 0
            while add_months(first, index + 1) <= sale.paid_at + 3 * DAY:
                index += 1
            if index <= latest:
                sums = cohort["revenue"][index]
                cohort["revenue"][index] = [total + amount for total, amount in zip(sums, sale.amounts())]

    def list_months(self):
        rows, mrr, paying = [], [0] * 3, 0
        first = to_ms(f"{min([*self.revenue, *self.movement, *self.trials, to_month(self.now)])}-01T00:00:00Z")
        while first <= self.now:
            month = to_month(first)
            counts, sums = self.counts[month], self.movement[month]
            names = ("new", "expansion", "contraction", "churned", "reactivated", "exchange")
            signs = (1, 1, -1, -1, 1, 1)
            changes = [sum(sign * part[name] for name, sign in zip(names, signs)) for part in sums]
            mrr = [total + change for total, change in zip(mrr, changes)]
            money = self.revenue[month]
            row = {
                "date": f"{month}-01",
                "revenueUSD": to_usd(money[0] - money[1]),
                "money": dict(zip(MONEY, money)),
                "mrrUSD": dict(zip(AMOUNTS, map(to_usd, mrr))),
                "movement": {amount: {name: to_usd(part[name]) for name in names} for amount, part in zip(AMOUNTS, sums)},
                "activeAtStart": paying,
                "churned": counts["churned"],
            }
            paying += counts["began"] - counts["churned"]
            rows.append(row)
            first = add_months(first, 1)
        return rows

    def list_cohorts(self):
        return [
            {
                "start": f"{month}-01",
                "size": cohort["size"],
                "active": {str(index): count for index, count in cohort["active"].items()},
                "revenueUSD": {
                    amount: {str(index): to_usd(sums[at]) for index, sums in cohort["revenue"].items() if to_usd(sums[at])}
                    for at, amount in enumerate(AMOUNTS)
                },
            }
            for month, cohort in sorted(self.cohorts.items())
        ]


def main(ledger):
    figures = Figures(ledger["now"], ledger.get("filter"))
    histories = [READERS[purchase["platform"]](purchase, ledger["products"], ledger["now"]) for purchase in join_purchases(ledger["purchases"])]
    for sales, trial in histories:
        figures.add(sales, trial)
    trials = [{"start": f"{m}-01", "trials": t, "converted": c} for m, (t, c) in sorted(figures.trials.items())]
    print(json.dumps({"months": figures.list_months(), "cohorts": figures.list_cohorts(), "trials": trials}))


main(json.load(sys.stdin))
