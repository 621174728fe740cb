import { paginateListSubscriptionsByTopic, SNSClient } from '@aws-sdk/client-sns';
import { awsClientOptions } from '../../lib/foundation/outgoing/aws-client.ts';
import { createFinding, type Finding } from '../../lib/health/finding.ts';

/** ARN of a subscription that its owner has not confirmed. */
const pendingArn = 'PendingConfirmation';

/**
 * Finds an alarm topic without a confirmed subscription.
 * @see https://docs.aws.amazon.com/sns/latest/api/API_ListSubscriptionsByTopic.html
 */
export async function checkAlarmSubscriptions(topicArn: string): Promise<readonly Finding[]> {
  const subscriptions: { readonly arn: string; readonly endpoint: string }[] = [];
  for await (const page of paginateListSubscriptionsByTopic(
    { client: new SNSClient(awsClientOptions) },
    { TopicArn: topicArn },
  ))
    for (const { SubscriptionArn: arn = '', Endpoint: endpoint = '' } of page.Subscriptions ?? [])
      subscriptions.push({ arn, endpoint });
  if (subscriptions.some(({ arn }) => arn !== pendingArn && arn !== 'Deleted')) return [];
  const [pending] = subscriptions.filter(({ arn }) => arn === pendingArn);
  if (pending)
    return [
      createFinding('alarm-subscription-unconfirmed', {
        problem: `Alarms reach no recipient: ${pending.endpoint} has not confirmed its subscription.`,
        cure: 'Open the link in the email "AWS Notification - Subscription Confirmation". It is valid for three days; deploy again with a different `-c alarmEmail=…` and back, or subscribe in the console of SNS, for a new email.',
      }),
    ];
  return [
    createFinding('alarm-subscription-missing', {
      problem: 'Alarms reach no recipient: the alarm topic does not have a subscription.',
      cure: 'Deploy with `-c alarmEmail=you@example.com` and confirm the subscription in the email of AWS, or subscribe another endpoint to the stack output AlarmTopicArn.',
    }),
  ];
}
