import { CfnOutput, Stack } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { contracts } from '../lib/api/index.ts';
import { notificationEndpoints } from '../lib/store-notifications/notification-endpoints.ts';
import { Alarms } from './alarms.ts';
import { Api } from './api.ts';
import { Endpoints } from './endpoints.ts';
import { MasterKey } from './master-key.ts';
import { suppressNagFindings } from './nag-suppressions.ts';
import { NotificationEndpoints } from './notification-endpoints.ts';
import { Queues } from './queues.ts';
import { DataTable } from './table.ts';
import { Workers } from './workers.ts';

/** The emulator that stands in for the stores when the stack runs on one machine; never set in a deployment. */
export interface StoreEmulatorConfig {
  readonly url: string;
  /** DER in base64. */
  readonly rootCertificate: string;
}

/** The whole service, made from the contracts. */
export class ServiceStack extends Stack {
  constructor(scope: Construct, id: string, { emulator }: { readonly emulator?: StoreEmulatorConfig } = {}) {
    super(scope, id, { description: 'Claimcheck: purchase validation and entitlements' });
    const { table } = new DataTable(this, 'Data');
    const { secret } = new MasterKey(this, 'Secrets');
    const queues = new Queues(this, 'Queues');
    const resources = { table, secret, queues, ...(emulator && { emulator }) };
    const { functions } = new Endpoints(this, 'Endpoints', { contracts, ...resources });
    const receivers = new NotificationEndpoints(this, 'NotificationEndpoints', resources).functions;
    const workers = new Workers(this, 'Workers', resources).functions;
    const { api, url } = new Api(this, 'Api', {
      contracts,
      hooks: notificationEndpoints,
      functions: new Map([...functions, ...receivers]),
    });
    const { topic } = new Alarms(this, 'Alarms', { api, table, functions, receivers, workers, queues });
    new CfnOutput(this, 'ApiUrl', { value: url, description: 'The base URL for clients' });
    new CfnOutput(this, 'AlarmTopicArn', { value: topic.topicArn, description: 'Subscribe to hear of alarms' });
    const webhooks = queues.queues.webhooks.queue;
    new CfnOutput(this, 'WebhooksQueueUrl', { value: webhooks.queueUrl, description: 'cli --webhooks-queue' });
    new CfnOutput(this, 'TableName', { value: table.tableName, description: 'cli --table' });
    new CfnOutput(this, 'MasterKeyId', { value: secret.secretArn, description: 'cli --master-key' });
    suppressNagFindings(this);
  }
}
