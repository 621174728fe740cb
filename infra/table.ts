import { RemovalPolicy } from 'aws-cdk-lib';
import {
  AttributeType,
  BillingMode,
  Table as DynamoTable,
  ProjectionType,
  StreamViewType,
} from 'aws-cdk-lib/aws-dynamodb';
import { Construct } from 'constructs';
import { indexes, tableKey } from '../lib/db/keys.ts';

/** The table of the service: on-demand capacity, point-in-time recovery, retained if the stack is deleted. */
export class DataTable extends Construct {
  readonly table: DynamoTable;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    this.table = new DynamoTable(this, 'Table', {
      partitionKey: buildStringAttribute(tableKey.pk),
      sortKey: buildStringAttribute(tableKey.sk),
      billingMode: BillingMode.PAY_PER_REQUEST,
      timeToLiveAttribute: 'ttl',
      stream: StreamViewType.NEW_AND_OLD_IMAGES,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      deletionProtection: true,
      removalPolicy: RemovalPolicy.RETAIN,
    });
    for (const [indexName, { pk, sk }] of Object.entries(indexes)) {
      this.table.addGlobalSecondaryIndex({
        indexName,
        partitionKey: buildStringAttribute(pk),
        sortKey: buildStringAttribute(sk),
        projectionType: ProjectionType.KEYS_ONLY,
      });
    }
  }
}

const buildStringAttribute = (name: string) => ({ name, type: AttributeType.STRING });
