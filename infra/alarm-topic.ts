import { Stack } from 'aws-cdk-lib';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { FilterOrPolicy, SubscriptionFilter, Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Construct } from 'constructs';
import type { DeploymentOptions } from './deployment-options.ts';

/** The SNS topic of the alarms. It requires TLS and accepts messages from alarms of this account only. */
export class AlarmTopic extends Construct {
  readonly topic: Topic;

  constructor(
    scope: Construct,
    id: string,
    { alarmEmail, pageEmail }: Pick<DeploymentOptions, 'alarmEmail' | 'pageEmail'>,
  ) {
    super(scope, id);
    this.topic = new Topic(this, 'Topic', { displayName: 'Claimcheck alarms', enforceSSL: true });
    // This policy replaces the default policy, which allows the whole account to publish.
    this.topic.addToResourcePolicy(
      new PolicyStatement({
        principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
        actions: ['sns:Publish'],
        resources: [this.topic.topicArn],
        conditions: { StringEquals: { 'aws:SourceAccount': Stack.of(this).account } },
      }),
    );
    if (alarmEmail !== undefined) this.topic.addSubscription(new EmailSubscription(alarmEmail));
    // The description of an alarm is in the body of its message.
    const pages = SubscriptionFilter.stringFilter({ matchSuffixes: ['Severity: page.'] });
    if (pageEmail !== undefined)
      this.topic.addSubscription(
        new EmailSubscription(pageEmail, {
          filterPolicyWithMessageBody: { AlarmDescription: FilterOrPolicy.filter(pages) },
        }),
      );
  }
}
