import { type AddAlarm, missingAccess, period, staleEntitlements } from './alarm-parts.ts';
import type { AlarmText } from './create-alarm.ts';
import type { QueueName, Queues } from './queues.ts';

/** Texts for a queue whose messages are delayed, and for messages in its dead-letter queue. */
const queueAlarmTexts: Readonly<Record<QueueName, { readonly delayed: AlarmText; readonly deadLettered: AlarmText }>> =
  {
    notifications: {
      delayed: {
        symptom: 'Store notifications are processed late',
        impact: staleEntitlements,
        action: 'check the errors of process-notification',
      },
      deadLettered: {
        symptom: 'Store notifications are in the dead-letter queue',
        impact: missingAccess,
        action: 'fix the cause, then redrive the queue',
      },
    },
    refreshes: {
      delayed: {
        symptom: 'Purchases are refreshed late',
        impact: staleEntitlements,
        action: 'check the errors of refresh-purchase and the status pages of the stores',
      },
      deadLettered: {
        symptom: 'Refreshes are in the dead-letter queue',
        impact: missingAccess,
        action: 'fix the cause, then redrive the queue',
      },
    },
    webhooks: {
      delayed: {
        symptom: 'Webhooks are sent late',
        impact: 'app servers receive changes late',
        action: 'check the errors of send-webhook',
      },
      deadLettered: {
        symptom: 'Webhooks are in the dead-letter queue',
        impact: 'app servers do not receive changes',
        action: 'fix the internal error, then redrive the queue',
      },
    },
    forwards: {
      delayed: {
        symptom: 'Store notifications are forwarded late',
        impact: 'the servers of set-forwards receive changes late',
        action: 'check the errors of send-forward',
      },
      deadLettered: {
        symptom: 'Forwards are in the dead-letter queue',
        impact: 'the servers of set-forwards miss store notifications',
        action: 'fix the internal error, then redrive the queue',
        severity: 'ticket',
      },
    },
  };

export function addQueueAlarms(add: AddAlarm, { queues, streamFailures }: Queues): void {
  for (const [name, { queue, deadLetterQueue }] of Object.entries(queues)) {
    const { delayed, deadLettered } = queueAlarmTexts[name as QueueName];
    const age = queue.metricApproximateAgeOfOldestMessage({ period, statistic: 'Maximum' });
    // 30 minutes: messages can be delayed for up to 15 minutes.
    add(`${name}-delayed`, age, 1_800, delayed);
    const deadMessages = deadLetterQueue.metricApproximateNumberOfMessagesVisible({ period, statistic: 'Maximum' });
    add(`${name}-dead`, deadMessages, 1, deadLettered);
  }
  const failures = streamFailures.metricApproximateNumberOfMessagesVisible({ period, statistic: 'Maximum' });
  add('stream-failures', failures, 1, {
    symptom: 'Stream records could not be processed',
    impact: 'changes are not announced or not counted',
    action: 'run webhooks stream-failures list, correct the items, then run webhooks stream-failures replay',
    severity: 'ticket',
  });
}
