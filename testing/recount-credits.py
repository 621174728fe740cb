"""Recounts the credits of an app from its exported rows and from the records of the stores, independently of the service.

Reads from standard input, as JSON:
  floor      "zero" or "debt": whether a refund can take a balance below zero
  now        ISO 8601
  units      {credit: units that each payment gives}
  credits    the rows of the exported table `credits`
  history    the rows of GET .../credits/history of each customer, with `applicationUsername` and `isSandbox`
  purchases  the rows of the exported table `purchases`
  shared     names of customers whose purchases others have claimed
  transactions  the rows of the exported table `transactions`
  oneTime    {purchaseId: {"paidMicros", "returnedMicros", "quantity"}} of the store, for purchases that are sold once
  merges     [[from, to]]
  erased     names of customers who were erased
Prints the contradictions as a JSON list. Standard library only.
"""

import json
import sys
from collections import defaultdict

data = json.load(sys.stdin)
problems = []
erased = set(data["erased"])
# What a change adds to the balance. A capture and a release return what the hold does not spend.
SIGNS = {
    "given": 1, "received": 1, "returned": 1,
    "spent": -1, "held": -1, "taken": -1, "taken-back": -1, "moved": -1, "expired": -1,
}


def report(problem, **details):
    problems.append({"problem": problem, **details})


# A merge and its reversal move open holds: the customers of a merge are counted together.
groups = {}


def find_group(name):
    while groups.get(name, name) != name:
        name = groups[name]
    return name


for former, owner in data["merges"]:
    groups[find_group(former)] = find_group(owner)

held = {row["holdId"]: row for row in data["history"] if row["type"] == "held"}
ended = {row["holdId"] for row in data["history"] if row["type"] in ("captured", "released")}
shared = {find_group(name) for name in data["shared"]}
incomplete = {find_group(name) for name in erased} & {find_group(name) for pair in data["merges"] for name in pair}

recounted = defaultdict(int)
expired = defaultdict(int)
for row in data["history"]:
    key = (find_group(row["applicationUsername"]), row["isSandbox"], row["credit"])
    if row["type"] in SIGNS:
        recounted[key] += SIGNS[row["type"]] * row["amount"]
    elif row["holdId"] in held:
        captured = row["amount"] if row["type"] == "captured" else 0
        recounted[key] += held[row["holdId"]]["amount"] - captured
    if row["type"] == "expired":
        expired[key] += row["amount"]
    if data["floor"] == "zero" and row["balance"] < 0:
        report("a balance is below zero", row=row)
for hold, row in held.items():
    if hold not in ended and row["until"] <= data["now"]:
        recounted[find_group(row["applicationUsername"]), row["isSandbox"], row["credit"]] += row["amount"]

exported = defaultdict(int)
exported_expired = defaultdict(int)
for row in data["credits"]:
    key = (find_group(row["applicationUsername"]), row["isSandbox"], row["credit"])
    exported[key] += row["balance"]
    exported_expired[key] += row["expired"]
    if row["balance"] != row["granted"] - row["spent"] - row["takenBack"] - row["expired"]:
        report("the totals of a row differ from its balance", row=row)
    if data["floor"] == "zero" and row["balance"] < 0:
        report("a balance is below zero", row=row)
for key in exported.keys() | recounted.keys():
    if key[0] not in incomplete and exported[key] != recounted[key]:
        report("a balance differs from the history", key=key, exported=exported[key], recounted=recounted[key])
    if key[0] not in incomplete and exported_expired[key] != expired[key]:
        report("ends are missing in the history", key=key, exported=exported_expired[key], recounted=expired[key])

# Each payment gives once, and its refunds take back their share.
by_purchase = defaultdict(lambda: defaultdict(list))
for row in data["history"]:
    if "purchaseId" in row:
        by_purchase[row["purchaseId"]][row["credit"]].append(row)
paid_periods = defaultdict(lambda: defaultdict(list))
for row in data["transactions"]:
    if not row.get("isPending") and not row.get("isTrialPeriod") and "expirationDate" in row:
        paid_periods[row["purchaseId"]][row["productId"], row["expirationDate"]].append(row)


def count_demanded(given, paid, returned, quantity=1):
    if returned >= paid:
        return given
    # The store rounds the refund of a unit.
    units = returned * quantity / paid
    if quantity > 1 and abs(units - round(units)) < 0.02:
        return given * round(units) // quantity
    # The export rounds the price of refunded units to micros.
    return given * (2 * returned + 1) // (2 * paid)


for purchase in data["purchases"]:
    purchase_id, entries = purchase["purchaseId"], by_purchase[purchase["purchaseId"]]
    owners = purchase.get("entitledUsers", [])
    if erased or not owners:
        continue
    for credit, units in data["units"].items():
        rows = entries[credit]
        given = [row for row in rows if row["type"] == "given"]
        if len({row["transactionId"] for row in given}) != len(given):
            report("a payment has given twice", purchaseId=purchase_id, rows=given)
        net = sum(SIGNS[row["type"]] * row["amount"] for row in rows if row["type"] in ("given", "taken-back", "returned"))
        sold = data["oneTime"].get(purchase_id)
        if sold:
            total = units * sold["quantity"] if sold["paidMicros"] > 0 else 0
            # A store can end a purchase without a refund.
            is_revoked = "endDate" in purchase
            by_refunds = count_demanded(total, sold["paidMicros"], sold["returnedMicros"], sold["quantity"])
            lost = total if is_revoked else by_refunds
        else:
            periods = paid_periods[purchase_id].values()
            if any(len(payments) != 1 or payments[0].get("amountMicros") is None for payments in periods):
                continue
            total = units * len(periods)
            lost = sum(
                count_demanded(units, row["amountMicros"], row.get("refundedAmountMicros", 0))
                for (row,) in periods
                if "refundDate" in row
            )
        # The second customer of a purchase receives, and gives back, what the first one has left: also nothing.
        has_moved = any(row["type"] == "moved" or find_group(row["applicationUsername"]) in shared for row in rows)
        if net < total - lost or (data["floor"] == "debt" and not has_moved and net != total - lost):
            details = {"total": total, "lost": lost, "net": net, "sold": sold, "rows": rows, "purchase": purchase}
            report("a purchase has not what its payments gave", **details, payments=list(paid_periods[purchase_id].values()))

print(json.dumps(problems))
