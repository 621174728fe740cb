import type { AlarmProps } from 'aws-cdk-lib/aws-cloudwatch';
import { type AddAlarm, type AlarmsProps, missingAccess, period, staleEntitlements } from './alarm-parts.ts';
import type { AlarmText } from './create-alarm.ts';
import { createFailureMetric, createLogMetric, type logPatterns } from './failure-metrics.ts';
import type { QueueName } from './queues.ts';
import { workers as workerDefinitions } from './worker-definitions.ts';

/** Texts for messages that fail repeatedly, which happens long before the queue stops retrying. */
const workerAlarmTexts = {
  'process-notification': {
    queue: 'notifications',
    symptom: 'Store notifications fail because of an internal error, or of settings that a store rejects',
    impact: missingAccess,
  },
  'send-webhook': {
    queue: 'webhooks',
    symptom: 'Webhooks fail because of an internal error, or of the table',
    impact: 'app servers receive changes late',
  },
} as const satisfies Record<string, Omit<AlarmText, 'action'> & { readonly queue: QueueName }>;

interface LogAlarm {
  readonly id: string;
  readonly worker: string;
  readonly problem: keyof typeof logPatterns;
  readonly text: AlarmText;
  readonly options?: Partial<AlarmProps>;
}

/** Alarms that start with the first log line of a problem. */
const logAlarms: readonly LogAlarm[] = [
  {
    id: 'notifications-retrying',
    worker: 'process-notification',
    problem: 'NotificationDelayed',
    text: {
      symptom: 'Store notifications wait because the store has been unavailable for 30 minutes',
      impact: staleEntitlements,
      action: "check the app's events and the status page of the store",
    },
  },
  {
    id: 'store-silent',
    worker: 'recover-notifications',
    problem: 'StoreSilent',
    text: {
      symptom: 'A store has sent no notification for much longer than usual',
      impact: `${staleEntitlements} until their refresh`,
      action: 'read the app in the log of recover-notifications, and check the notification URL in the store',
      severity: 'ticket',
    },
    // The worker runs every hour.
    options: { evaluationPeriods: 18, datapointsToAlarm: 1 },
  },
  {
    id: 'webhooks-given-up',
    worker: 'send-webhook',
    problem: 'WebhookDead',
    text: {
      symptom: "Webhooks have failed for three days at an app's server",
      impact: 'the app server has missed changes',
      action: 'read the app in the log of send-webhook, then replay its dead deliveries',
      severity: 'ticket',
    },
  },
  {
    id: 'webhook-url-failing',
    worker: 'send-webhook',
    problem: 'WebhookUrlFailing',
    text: {
      symptom: "Every webhook to an app's server has failed for an hour",
      impact: 'the app server misses changes until it responds',
      action: 'read the app and the URL in the log of send-webhook, and inform its owner',
    },
    // Retries are up to an hour apart.
    options: { evaluationPeriods: 12, datapointsToAlarm: 1 },
  },
  {
    id: 'refund-statements-lost',
    worker: 'refresh-purchase',
    problem: 'RefundStatementLost',
    text: {
      symptom: 'A store has not accepted a statement about a refund before the deadline',
      impact: 'the store decides about the refund without the app',
      action: 'read the app and the request in the log of refresh-purchase',
      severity: 'ticket',
    },
  },
];

export function addWorkerAlarms(
  add: AddAlarm,
  { workers, notificationEndpoints }: Pick<AlarmsProps, 'workers' | 'notificationEndpoints'>,
): void {
  for (const [id, endpoint] of notificationEndpoints) {
    add(`${id}-errors`, createFailureMetric(endpoint, period), 3, {
      symptom: 'Notifications of a store are not accepted',
      impact: `${staleEntitlements} until the store retries`,
      action: `check the log of ${id}`,
    });
  }
  for (const id of ['fan-out-webhooks', 'aggregate-statistics']) {
    const age = workers.get(id)?.metric('IteratorAge', { period, statistic: 'Maximum' });
    if (age)
      add(`${id}-delayed`, age, 900_000, {
        symptom: 'Stream records are processed late',
        impact: 'changes are announced or counted late',
        action: `check the errors of ${id}`,
      });
  }
  for (const [id, { queue, symptom, impact }] of Object.entries(workerAlarmTexts)) {
    const worker = workers.get(id);
    // The age of the oldest message excludes messages that were received three times or more.
    if (worker)
      add(
        `${queue}-failing`,
        createFailureMetric(worker, period),
        1,
        { symptom, impact, action: `check the log of ${id}` },
        { evaluationPeriods: 6, datapointsToAlarm: 4 },
      );
  }
  for (const { id, worker: workerId, problem, text, options } of logAlarms) {
    const worker = workers.get(workerId);
    if (worker) add(id, createLogMetric(worker, problem, period), 1, text, options);
  }
  const refresher = workers.get('refresh-purchase');
  if (refresher)
    add('refreshes-failing', createFailureMetric(refresher, period), 10, {
      symptom: 'Refreshes fail because of an internal error, or of settings that a store rejects',
      impact: staleEntitlements,
      action: 'check the log of refresh-purchase',
    });
}

/** Alarms that start during the traffic shift of a release: the other alarms of these workers are slower. */
export function addReleaseAlarms(add: AddAlarm, workers: AlarmsProps['workers']): void {
  for (const { id, source } of workerDefinitions) {
    const worker = workers.get(id);
    if (!worker || 'everyMinutes' in source) continue;
    add(`${id}-failures`, createFailureMetric(worker, period), 10, {
      symptom: `The worker ${id} fails repeatedly`,
      impact: 'changes of purchases are processed late, and a release in progress is rolled back',
      action: `check the log of ${id}`,
    });
  }
}
