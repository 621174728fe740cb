import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import type { Contract } from '../lib/api/contract.ts';
import { indexes } from '../lib/db/keys.ts';
import { HouseFunction } from './house-function.ts';
import type { StoreEmulator } from './service-stack.ts';

interface EndpointsProps {
  readonly contracts: readonly Contract[];
  readonly table: Table;
  readonly secret: Secret;
  readonly emulator?: StoreEmulator;
}

/** One function a contract, with the permissions that the contract needs and no others. */
export class Endpoints extends Construct {
  /** By contract id. */
  readonly functions: ReadonlyMap<string, LambdaFunction>;

  constructor(scope: Construct, id: string, props: EndpointsProps) {
    super(scope, id);
    this.functions = new Map(props.contracts.map((contract) => [contract.id, this.endpoint(contract, props)]));
  }

  private endpoint(
    { id, area, summary, needs, key }: Contract,
    { table, secret, emulator }: EndpointsProps,
  ): LambdaFunction {
    const asksStores = needs.includes('stores');
    const { handler } = new HouseFunction(this, id, {
      handler: `${area}/${id}.handler`,
      description: summary,
      // API Gateway waits 29 s; adapters end well before.
      timeoutSeconds: asksStores ? 29 : 10,
      memoryMb: asksStores ? 1024 : 512,
      environment: {
        TABLE_NAME: table.tableName,
        MASTER_KEY_ID: secret.secretArn,
        ...(emulator && asksStores && { STORES_URL: emulator.url, STORES_ROOT: emulator.rootCertificate }),
      },
    });
    if (key !== 'none') for (const statement of tableAccess(table, needs)) handler.addToRolePolicy(statement);
    if (asksStores) secret.grantRead(handler);
    return handler;
  }
}

/** Every function reads and records its event; only those that need it change purchases or look into an index. */
function tableAccess(table: Table, needs: Contract['needs']): PolicyStatement[] {
  const read = ['dynamodb:GetItem', 'dynamodb:BatchGetItem', 'dynamodb:Query', 'dynamodb:BatchWriteItem'];
  const write = ['dynamodb:PutItem', 'dynamodb:UpdateItem', 'dynamodb:DeleteItem'];
  const { due: _due, ...lookedUp } = indexes;
  const arns = Object.keys(lookedUp).map((index) => `${table.tableArn}/index/${index}`);
  return [
    new PolicyStatement({ actions: needs.includes('write') ? [...read, ...write] : read, resources: [table.tableArn] }),
    ...(needs.includes('indexes') ? [new PolicyStatement({ actions: ['dynamodb:Query'], resources: arns })] : []),
  ];
}
