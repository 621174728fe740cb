import { Duration } from 'aws-cdk-lib';
import { ComparisonOperator, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { type AddAlarm, type AlarmsProps, period, staleEntitlements, sumOptions } from './alarm-parts.ts';
import type { AlarmText } from './create-alarm.ts';
import { createLogMetric } from './failure-metrics.ts';
import { exportWorker, workers as workerDefinitions } from './worker-definitions.ts';

/** Texts for failures of scheduled workers. */
const scheduleAlarmTexts = {
  'enqueue-due-items': {
    symptom: 'Due items are not enqueued',
    impact: 'purchases are not refreshed, expirations are not announced, and webhooks are not retried',
  },
  'recover-notifications': {
    symptom: 'Undelivered store notifications are not recovered',
    impact: staleEntitlements,
  },
  'poll-notifications': {
    symptom: 'Stores that do not push notifications are not polled',
    impact: 'customers keep access after refunds of the Microsoft Store',
  },
  'load-exchange-rates': {
    symptom: 'Exchange rates are not loaded',
    impact: 'amounts in US dollars are outdated or missing',
    severity: 'ticket',
  },
  'send-alerts': {
    symptom: 'Alerts fail',
    impact: 'the receivers of app set-alerts get no messages about problems',
    severity: 'ticket',
  },
  'export-apps': {
    symptom: 'Scheduled exports fail',
    impact: 'files of export schedule are missing or outdated',
    severity: 'ticket',
  },
} as const satisfies Record<string, Omit<AlarmText, 'action'>>;

const toNotRunningText = (id: keyof typeof scheduleAlarmTexts): AlarmText => ({
  ...scheduleAlarmTexts[id],
  action: `check the schedule of ${id} in EventBridge`,
});

/** Texts for workers that are not invoked. The stream has markers of the statistics each minute. */
const notRunningTexts: Readonly<Record<string, AlarmText>> = {
  ...Object.fromEntries(
    (Object.keys(scheduleAlarmTexts) as (keyof typeof scheduleAlarmTexts)[]).map((id) => [id, toNotRunningText(id)]),
  ),
  'aggregate-statistics': {
    symptom: 'The statistics do not read the stream of the table',
    impact: 'changes are not counted',
    action: 'check that the event source mapping of aggregate-statistics is enabled',
  },
  'fan-out-webhooks': {
    symptom: 'The worker for webhooks does not read the stream of the table',
    impact: 'changes are not announced, and credits are not given',
    action: 'check that the event source mapping of fan-out-webhooks is enabled',
  },
};

export function addScheduleAlarms(add: AddAlarm, workers: AlarmsProps['workers']): void {
  for (const [id, text] of Object.entries(scheduleAlarmTexts)) {
    const worker = workers.get(id);
    if (worker)
      add(`${id}-errors`, worker.metricErrors(sumOptions), 1, {
        ...text,
        action: `check the log of ${id}`,
      });
  }
  const dueItemWorker = workers.get('enqueue-due-items');
  if (!dueItemWorker) return;
  add('due-items-late', createLogMetric(dueItemWorker, 'DueItemsLate', period), 1, {
    symptom: 'Due items are enqueued more than an hour late',
    impact: 'purchases are refreshed, expirations are announced, and webhooks are retried late',
    action: 'check the duration and the throttles of enqueue-due-items, and the throttles of the table',
  });
}

/** Alarms on a worker that its schedule, or the mapping of its stream, no longer invokes. */
export function addMissingRunAlarms(add: AddAlarm, workers: AlarmsProps['workers']): void {
  for (const { id, source } of [...workerDefinitions, exportWorker]) {
    const worker = workers.get(id);
    const text = notRunningTexts[id as keyof typeof notRunningTexts];
    if (!worker || !text) continue;
    const minutes = 'everyMinutes' in source ? Math.max(15, 3 * source.everyMinutes) : 15;
    add(
      `${id}-not-running`,
      worker.metricInvocations({ period: Duration.minutes(minutes), statistic: 'Sum' }),
      1,
      text,
      {
        comparisonOperator: ComparisonOperator.LESS_THAN_THRESHOLD,
        treatMissingData: TreatMissingData.BREACHING,
      },
    );
  }
}
