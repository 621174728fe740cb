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
import type { StoreEmulatorConfig } from './permissions.ts';
import { Queues } from './queues.ts';
import { DataTable } from './table.ts';
import { Workers } from './workers.ts';

/** The service: all resources of a deployment, built from the contracts. */
export class ServiceStack extends Stack {
  constructor(scope: Construct, id: string, { emulator }: { readonly emulator?: StoreEmulatorConfig } = {}) {
    super(scope, id, { description: 'Claimcheck: purchase validation and entitlements' });
    const { table } = new DataTable(this, 'Data');
    const { secret } = new MasterKey(this, 'Secrets');
    const queues = new Queues(this, 'Queues');
    const resources = { table, secret, queues, ...(emulator && { emulator }) };
    const { functions } = new Endpoints(this, 'Endpoints', { contracts, ...resources });
    const endpoints = new NotificationEndpoints(this, 'NotificationEndpoints', resources);
    const workers = new Workers(this, 'Workers', resources).functions;
    const { api, url } = new Api(this, 'Api', {
      contracts,
      notificationEndpoints,
      functions: new Map([...functions, ...endpoints.functions]),
    });
    const { topic } = new Alarms(this, 'Alarms', {
      api,
      table,
      functions,
      notificationEndpoints: endpoints.functions,
      workers,
      queues,
    });
    new CfnOutput(this, 'ApiUrl', { value: url, description: 'Base URL for clients' });
    new CfnOutput(this, 'AlarmTopicArn', { value: topic.topicArn, description: 'SNS topic of the alarms' });
    const webhooks = queues.queues.webhooks.queue;
    new CfnOutput(this, 'WebhooksQueueUrl', {
      value: webhooks.queueUrl,
      description: 'Value of the CLI option --webhooks-queue',
    });
    new CfnOutput(this, 'TableName', { value: table.tableName, description: 'Value of the CLI option --table' });
    new CfnOutput(this, 'MasterKeyId', {
      value: secret.secretArn,
      description: 'Value of the CLI option --master-key',
    });
    suppressNagFindings(this);
  }
}
