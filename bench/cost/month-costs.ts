import { addQuantities, computeBill, type Quantities, scaleQuantities, sumBill } from '../prices.ts';
import { callsPerUser, monthsOfData, secondsOfMonth } from './assumptions.ts';
import { bytesPerGb, type OperationCost, type Storage } from './operation-costs.ts';
import type { Load } from './run-operations.ts';

/** The bill of a month with a number of users. */
export interface MonthCost {
  readonly users: number;
  readonly requestsPerSecond: number;
  /** Load whose measured operations are multiplied. */
  readonly load: Load;
  /** Dollars by price. */
  readonly parts: Quantities;
  readonly dollars: number;
  /** Size of the table after `monthsOfData`. */
  readonly storedGb: number;
}

export const userCounts: readonly number[] = [0, 10_000, 1_000_000, 100_000_000];

/** Start of the names of the operations whose mean is a call of `callsPerUser`, if it is not the name of the call. */
const operationPrefixes: Readonly<Record<string, string>> = {
  'read of a customer': 'read, ',
  'validation, repeated': 'validation, repeated later',
};

/** One kind of call of all users in a month. */
interface MonthCalls {
  readonly name: string;
  readonly count: number;
  readonly quantities: Quantities;
  readonly storedBytes: number;
}

function listMonthCalls(users: number, load: Load, operations: readonly OperationCost[]): MonthCalls[] {
  return Object.entries(callsPerUser).map(([name, { value }]) => {
    const count = value * users;
    const prefix = operationPrefixes[name] ?? name;
    const matching = operations.filter((operation) => operation.load === load && operation.name.startsWith(prefix));
    if (matching.length === 0) throw new Error(`The operation ${name} is not measured.`);
    const share = count / matching.length;
    return {
      name,
      count,
      quantities: addQuantities(...matching.map(({ quantities }) => scaleQuantities(quantities, share))),
      storedBytes: matching.reduce((bytes, { storage }) => bytes + computeStoredBytes(storage) * share, 0),
    };
  });
}

const countRequestsPerSecond = (users: number): number =>
  (Object.values(callsPerUser).reduce((sum, { value }) => sum + value, 0) * users) / secondsOfMonth;

const selectLoad = (users: number): Load => (countRequestsPerSecond(users) < 1 ? 'quiet' : 'steady');

const sumStoredGb = (calls: readonly MonthCalls[]): number =>
  calls.reduce((bytes, { storedBytes }) => bytes + storedBytes, 0) / bytesPerGb;

// Point-in-time recovery is billed without the indexes, so its part is an upper bound.
const toStorage = (storedGb: number): Quantities => ({ tableStorage: storedGb, tableRecovery: storedGb });

/** Computes the bill of a month: fixed costs, calls of the users and storage. */
export function computeMonthCost(users: number, operations: readonly OperationCost[], idle: Quantities): MonthCost {
  const load = selectLoad(users);
  const calls = listMonthCalls(users, load, operations);
  const storedGb = sumStoredGb(calls);
  const used = calls.map(({ quantities }) => quantities);
  const parts = computeBill(addQuantities(idle, toStorage(storedGb), ...used));
  return { users, requestsPerSecond: countRequestsPerSecond(users), load, parts, dollars: sumBill(parts), storedGb };
}

interface BillLine {
  readonly part: string;
  /** Number of calls in the month. */
  readonly calls?: number;
  readonly dollars: number;
}

/** Lists the lines of the bill that `computeMonthCost` sums, at the prices of the first tiers. */
export function listBillLines(users: number, operations: readonly OperationCost[], idle: Quantities): BillLine[] {
  const calls = listMonthCalls(users, selectLoad(users), operations);
  const storedGb = sumStoredGb(calls);
  const toDollars = (quantities: Quantities): number => sumBill(computeBill(quantities));
  return [
    ...calls.map(({ name, count, quantities }) => ({ part: name, calls: count, dollars: toDollars(quantities) })),
    { part: `storage and recovery of ${storedGb.toFixed(1)} GB`, dollars: toDollars(toStorage(storedGb)) },
    { part: 'resources without calls', dollars: toDollars(idle) },
  ];
}

/** Bytes in the table after `monthsOfData` for each monthly operation. Items with a TTL reach a constant size. */
const computeStoredBytes = ({ permanentBytes, expiringByteDays }: Storage): number =>
  permanentBytes * monthsOfData + expiringByteDays / 30;
