import { Stack } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { IConstruct } from 'constructs';
import { acknowledgeFinding } from './acknowledgements.ts';

/**
 * Builds the permissions for exports below locations such as `s3://bucket/prefix`: write, list, and read again for an
 * erasure. Nothing is deleted.
 */
export const buildExportStatements = (scope: IConstruct, locations: readonly string[] = []): PolicyStatement[] =>
  locations.flatMap((location) => {
    const { bucket, path } = splitLocation(location);
    const { partition } = Stack.of(scope);
    return [
      new PolicyStatement({
        actions: ['s3:GetObject', 's3:PutObject'],
        resources: [`arn:${partition}:s3:::${path}/*`],
      }),
      new PolicyStatement({
        actions: ['s3:ListBucket'],
        resources: [`arn:${partition}:s3:::${bucket}`],
        conditions: { StringLike: { 's3:prefix': `${path.slice(bucket.length + 1)}/*` } },
      }),
    ];
  });

/** Accepts that a role or policy with these permissions reads and writes all objects below the locations. */
export function acknowledgeExports(construct: IConstruct, locations: readonly string[] = []): void {
  for (const location of locations)
    acknowledgeFinding(
      construct,
      `IAM5[Resource::arn:<AWS::Partition>:s3:::${splitLocation(location).path}/*]`,
      'The names of the files of an export contain the day.',
    );
}

function splitLocation(location: string) {
  const path = location.slice('s3://'.length);
  return { path, bucket: path.slice(0, path.indexOf('/')) };
}
