import { type CfnResource, RemovalPolicy } from 'aws-cdk-lib';
import {
  AttributeType,
  BillingMode,
  Table as DynamoTable,
  type ITable,
  ProjectionType,
  StreamViewType,
} from 'aws-cdk-lib/aws-dynamodb';
import type { Role } from 'aws-cdk-lib/aws-iam';
import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs';
import { AwsCustomResource, AwsCustomResourcePolicy, PhysicalResourceId } from 'aws-cdk-lib/custom-resources';
import { Construct } from 'constructs';
import { indexes, tableKey } from '../lib/foundation/key.ts';
import { acknowledgeFinding } from './acknowledgements.ts';

interface DataTableProps {
  /** Adopts this table, for example one that was restored, instead of creating a table. */
  readonly tableName?: string | undefined;
  readonly tableRevision?: string | undefined;
}

/** The table of the service: on-demand capacity, point-in-time recovery, retained if the stack is deleted. */
export class DataTable extends Construct {
  readonly table: ITable;

  constructor(scope: Construct, id: string, { tableName, tableRevision }: DataTableProps = {}) {
    super(scope, id);
    this.table = tableName === undefined ? this.createTable() : this.adoptTable(tableName, tableRevision);
  }

  private createTable(): ITable {
    const table = new DynamoTable(this, 'Table', {
      partitionKey: buildStringAttribute(tableKey.pk),
      sortKey: buildStringAttribute(tableKey.sk),
      billingMode: BillingMode.PAY_PER_REQUEST,
      timeToLiveAttribute: 'ttl',
      stream: StreamViewType.NEW_AND_OLD_IMAGES,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      deletionProtection: true,
      removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    });
    for (const [indexName, { pk, sk }] of Object.entries(indexes)) {
      table.addGlobalSecondaryIndex({
        indexName,
        partitionKey: buildStringAttribute(pk),
        sortKey: buildStringAttribute(sk),
        projectionType: ProjectionType.KEYS_ONLY,
      });
    }
    return table as ITable;
  }

  /** The ARN of the stream contains the time when it was enabled, so it is read from the table at deployment. */
  private adoptTable(tableName: string, tableRevision: string | undefined): ITable {
    const call = {
      service: 'DynamoDB',
      action: 'describeTable',
      parameters: { TableName: tableName },
      physicalResourceId: PhysicalResourceId.fromResponse('Table.LatestStreamArn'),
      outputPaths: ['Table.LatestStreamArn'],
    };
    const named = DynamoTable.fromTableName(this, 'NamedTable', tableName);
    const description = new AwsCustomResource(this, 'Description', {
      onCreate: call,
      onUpdate: call,
      installLatestAwsSdk: false,
      logGroup: new LogGroup(this, 'DescriptionLog', {
        retention: RetentionDays.ONE_MONTH,
        removalPolicy: RemovalPolicy.DESTROY,
      }),
      policy: AwsCustomResourcePolicy.fromSdkCalls({ resources: [named.tableArn] }),
    });
    // CloudFormation runs a custom resource only if a property changes.
    if (tableRevision !== undefined) {
      const resource = description.node.findChild('Resource').node.defaultChild as CfnResource;
      resource.addPropertyOverride('TableRevision', tableRevision);
    }
    acknowledgeFinding(
      description.grantPrincipal as Role,
      'IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole]',
      'The function of CDK that reads the ARN of the stream writes its log with this policy.',
    );
    return DynamoTable.fromTableAttributes(this, 'Table', {
      tableName,
      tableStreamArn: description.getResponseField('Table.LatestStreamArn'),
      globalIndexes: Object.keys(indexes),
    });
  }
}

const buildStringAttribute = (name: string) => ({ name, type: AttributeType.STRING });
