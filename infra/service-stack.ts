import { CfnOutput, Stack } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { contracts } from '../lib/api/index.ts';
import { Alarms } from './alarms.ts';
import { Api } from './api.ts';
import { Endpoints } from './endpoints.ts';
import { explainFindings } from './findings.ts';
import { MasterKey } from './master-key.ts';
import { Table } from './table.ts';

/** The emulator that stands in for the stores when the stack runs on one machine; never set in a deployment. */
export interface StoreEmulator {
  readonly url: string;
  /** DER in base64. */
  readonly rootCertificate: string;
}

/** The whole service, made from the contracts. */
export class ServiceStack extends Stack {
  constructor(scope: Construct, id: string, { emulator }: { readonly emulator?: StoreEmulator } = {}) {
    super(scope, id, { description: 'Claimcheck: purchase validation and entitlements' });
    const { table } = new Table(this, 'Data');
    const { secret } = new MasterKey(this, 'Secrets');
    const { functions } = new Endpoints(this, 'Endpoints', { contracts, table, secret, ...(emulator && { emulator }) });
    const { api } = new Api(this, 'Api', { contracts, functions });
    new Alarms(this, 'Alarms', { api, table, functions });
    new CfnOutput(this, 'ApiUrl', { value: api.url ?? '', description: 'The base URL for clients' });
    new CfnOutput(this, 'TableName', { value: table.tableName, description: 'cli --table' });
    new CfnOutput(this, 'MasterKeyId', { value: secret.secretArn, description: 'cli --master-key' });
    explainFindings(this);
  }
}
