import type { DeploymentOptions } from '../infra/deployment-options.ts';
import { listPrices } from '../infra/option-prices.ts';
import type { BenchResult } from './bench-result.ts';
import { dollarBudgets, findBudget } from './budgets.ts';
import { assumptions, callsPerUser, monthsOfData } from './cost/assumptions.ts';
import { type CostService, withCostService } from './cost/cost-service.ts';
import type { Invocation } from './cost/function-host.ts';
import { listSchedules, sumIdleQuantities, sumScheduleQuantities } from './cost/idle-costs.ts';
import { advanceMarkers, markerFunction, passMarkers } from './cost/markers.ts';
import { comparedSizes, computeMemorySizes, type MemorySize } from './cost/memory-sizes.ts';
import { computeMonthCost, listBillLines, type MonthCost, userCounts } from './cost/month-costs.ts';
import {
  type CostSettings,
  computeInvocationCost,
  computeOperationCost,
  type OperationCost,
} from './cost/operation-costs.ts';
import { measureOperations } from './cost/run-operations.ts';
import { getAccessLogFormat, listFunctionSettings } from './cost/template.ts';
import {
  addQuantities,
  type PriceName,
  prices,
  pricesDate,
  pricesRegion,
  type Quantities,
  scaleQuantities,
} from './prices.ts';

interface CostReport {
  readonly operations: readonly OperationCost[];
  readonly months: readonly MonthCost[];
  /** The lines of the bill of a month with `exampleUsers`. */
  readonly bill: ReturnType<typeof listBillLines>;
  readonly memorySizes: readonly MemorySize[];
}

/** Number of users whose bill is shown in detail. */
const exampleUsers = 1_000_000;

/** Measures what each operation uses in the built functions, and computes its price and the bills of months. */
export const measureCosts = async (): Promise<CostReport> =>
  await withCostService(async (cost) => {
    const measured = await measureOperations(cost);
    const schedules = await measureSchedules(cost);
    const settings: CostSettings = {
      functions: listFunctionSettings(cost.template),
      accessLogFormat: getAccessLogFormat(cost.template),
      starts: cost.host.listStarts(),
    };
    const operations = measured.map((operation) => computeOperationCost(operation, settings));
    const quantitiesOfRun = new Map(
      [...schedules].map(([functionName, invocations]) => {
        const quantities = invocations.map((invocation) => computeInvocationCost(invocation, settings).quantities);
        return [functionName, scaleQuantities(addQuantities(...quantities), 1 / scheduleRuns)] as const;
      }),
    );
    const idle = addQuantities(
      sumIdleQuantities(cost.template),
      sumScheduleQuantities(listSchedules(cost.template), quantitiesOfRun),
    );
    return {
      operations,
      months: userCounts.map((users) => computeMonthCost(users, operations, idle)),
      bill: listBillLines(exampleUsers, operations, idle),
      memorySizes: computeMemorySizes(measured, settings),
    };
  });

const [scheduleWarmUps, scheduleRuns] = [2, 5];

/** Runs the functions of the schedules without work to do, and the stream workers that their markers invoke. */
async function measureSchedules(cost: CostService) {
  const { invoke, takeInvocations } = cost;
  const measured = new Map<string, readonly Invocation[]>();
  const run = async (functionName: string, count: number): Promise<Invocation[]> => {
    const invocations: Invocation[] = [];
    for (let number = 0; number < count; number++) {
      if (functionName === markerFunction) await advanceMarkers();
      await invoke(functionName, {});
      const ofRun = takeInvocations();
      invocations.push(...ofRun, ...(await passMarkers(cost, ofRun)));
    }
    return invocations;
  };
  for (const { functionName } of listSchedules(cost.template)) {
    await run(functionName, scheduleWarmUps);
    measured.set(functionName, await run(functionName, scheduleRuns));
  }
  return measured;
}

export const benchCost = async (): Promise<BenchResult[]> => buildCostTables(await measureCosts());

/** The options with a price besides their traffic. */
const pricedOptions: DeploymentOptions = {
  waf: true,
  syntheticCheck: true,
  backup: true,
  backupCopyVaultArn: 'arn:aws:backup:eu-central-1:123456789012:backup-vault:copies',
  masterKeyReplicaRegion: 'eu-central-1',
};

/** The parts of the bill as columns. */
const columns: Readonly<Record<string, readonly PriceName[]>> = {
  writes: ['tableWrites'],
  reads: ['tableReads'],
  storage: ['tableStorage', 'tableRecovery'],
  'Lambda time': ['lambdaTime'],
  'Lambda requests': ['lambdaRequests'],
  'API Gateway': ['apiRequests'],
  logs: ['functionLogs', 'accessLogs', 'logStorage'],
  queues: ['queueRequests'],
  egress: ['egress'],
  'alarms, secret': ['alarmMetrics', 'customMetrics', 'dashboards', 'secrets', 'secretRequests'],
};

const toColumns = (parts: Quantities, isShown: (column: string) => boolean = () => true) =>
  Object.fromEntries(
    Object.entries(columns)
      .filter(([column]) => isShown(column))
      .map(([column, names]) => [column, round(names.reduce((sum, name) => sum + (parts[name] ?? 0), 0))]),
  );

export function buildCostTables({ operations, months, bill, memorySizes }: CostReport): BenchResult[] {
  return [
    {
      id: 'operations',
      title: `Dollars of one million operations (${pricesRegion}, list prices of ${pricesDate} without free tiers)`,
      rows: operations.map(({ name, load, parts, dollarsPerMillion }) => {
        const target = load === 'steady' ? findBudget(dollarBudgets.targets, name) : undefined;
        return {
          operation: name,
          load,
          ...toColumns(parts, (column) => column !== 'storage'),
          total: round(dollarsPerMillion),
          target: target ?? '',
          met: target === undefined ? '' : dollarsPerMillion <= target ? 'yes' : 'no',
        };
      }),
    },
    {
      id: 'usage',
      title: 'Resources of one operation',
      rows: operations.map((operation) => ({
        operation: operation.name,
        load: operation.load,
        'write units': round(operation.writeUnits),
        'read units': round(operation.readUnits),
        'CPU ms': round(operation.cpuMs),
        'billed ms': round(operation.billedMs),
        invocations: round(operation.quantities.lambdaRequests ?? 0),
        'log bytes': Math.round(operation.logBytes),
        'response bytes': Math.round(operation.responseBytes),
        'stored bytes': Math.round(operation.storage.permanentBytes),
        'expiring kB-days': round(operation.storage.expiringByteDays / 1000),
      })),
    },
    {
      id: 'memory',
      title: 'Billed ms of an invocation and dollars of the time of a million, by MB of memory',
      rows: memorySizes
        .filter(({ memoryMb }) => memoryMb === comparedSizes[0])
        .map(({ functionName }) => toMemoryRow(functionName, memorySizes)),
    },
    {
      id: 'months',
      title: `Dollars of a month, ${monthsOfData} months after the first user`,
      rows: months.map(({ users, requestsPerSecond, load, parts, dollars, storedGb }) => ({
        users,
        'calls a second': round(requestsPerSecond),
        load: users === 0 ? 'idle' : load,
        ...toColumns(parts),
        total: round(dollars),
        'for 1,000 users': users === 0 ? '' : round((dollars / users) * 1000),
        'table GB': round(storedGb),
      })),
    },
    {
      id: 'bill',
      title: `Arithmetic of the bill of a month with ${exampleUsers.toLocaleString('en')} users`,
      rows: [
        ...bill.map(({ part, calls, dollars }) => ({
          part,
          ...(calls === undefined
            ? { 'calls of a user': '', calls: '', '$ of a million calls': '' }
            : {
                'calls of a user': calls / exampleUsers,
                calls: Math.round(calls),
                '$ of a million calls': round((dollars / calls) * 1_000_000),
              }),
          dollars: round(dollars),
        })),
        {
          part: 'total',
          'calls of a user': '',
          calls: '',
          '$ of a million calls': '',
          dollars: round(bill.reduce((sum, { dollars }) => sum + dollars, 0)),
        },
      ],
    },
    {
      id: 'options',
      title: 'Dollars of a month of each option, at the size of the table above',
      rows: listPrices(pricedOptions)
        .slice(1)
        .map(({ part, usd, per }) => ({
          option: part,
          price: `${usd} a ${per}`,
          ...Object.fromEntries(
            months.map(({ users, storedGb }) => [
              `${users.toLocaleString('en')} users`,
              round(per === 'month' ? usd : usd * storedGb),
            ]),
          ),
        })),
    },
    {
      id: 'calls',
      title: 'Assumed calls of one user in a month',
      rows: Object.entries(callsPerUser).map(([call, { value, meaning }]) => ({ call, value, meaning })),
    },
    {
      id: 'assumptions',
      title: 'Assumptions, not measured',
      rows: Object.entries(assumptions).map(([name, assumption]) => ({ name, ...assumption })),
    },
    {
      id: 'prices',
      title: `Prices (${pricesRegion}, ${pricesDate})`,
      rows: Object.entries(prices).map(([price, { unit, tiers }]) => ({
        price,
        unit,
        'first tier $': formatPrice(tiers[0].usd),
      })),
    },
  ];
}

function toMemoryRow(functionName: string, memorySizes: readonly MemorySize[]) {
  const sizes = memorySizes.filter((size) => size.functionName === functionName);
  return {
    function: functionName,
    chosen: sizes.find(({ isChosen }) => isChosen)?.memoryMb ?? '',
    ...Object.fromEntries(
      sizes.flatMap(({ memoryMb, billedMs, dollarsPerMillion }) => [
        [`${memoryMb} ms`, round(billedMs)],
        [`${memoryMb} $`, round(dollarsPerMillion)],
      ]),
    ),
  };
}

/** Formats small prices without an exponent. */
const formatPrice = (usd: number): string => usd.toFixed(10).replace(/\.?0+$/, '');

const round = (value: number): number => Number(value.toFixed(2));
