import type { TemplateNames } from './intrinsics.ts';
import type { Template } from './template.ts';

export const region = 'eu-west-1';

export const account = '000000000000';

export const buildFunctionArn = (name: string): string => `arn:aws:lambda:${region}:${account}:function:${name}`;

const pseudoParameters: Readonly<Record<string, string>> = {
  'AWS::AccountId': account,
  'AWS::Partition': 'aws',
  'AWS::Region': region,
  'AWS::StackName': 'Claimcheck',
  'AWS::StackId': `arn:aws:cloudformation:${region}:${account}:stack/Claimcheck/local`,
  'AWS::URLSuffix': 'amazonaws.com',
};

const servicesReferencedByArn: Readonly<Record<string, string>> = {
  'AWS::SecretsManager::Secret': 'secretsmanager',
  'AWS::SNS::Topic': 'sns',
};

interface Run {
  /** Prefix of table and queue names, so that several runs can share a server. */
  readonly run: string;
  readonly getQueueUrl: (name: string) => string;
}

/** Creates the names of a template's resources on this machine. */
export function createLocalNames({ Resources }: Template, { run, getQueueUrl }: Run): TemplateNames {
  const arn = (name: string, service = 'local') => `arn:aws:${service}:${region}:${account}:${name}`;
  const getType = (id: string): string => Resources[id]?.Type ?? '';
  const isQueue = (id: string): boolean => getType(id) === 'AWS::SQS::Queue';
  return {
    ref(id) {
      const service = servicesReferencedByArn[getType(id)];
      if (isQueue(id)) return getQueueUrl(`${run}-${id}`);
      return pseudoParameters[id] ?? (service ? arn(id, service) : `${run}-${id}`);
    },
    attribute(id, name) {
      if (!Resources[id]) throw new Error(`The template refers to ${id}, which is not defined.`);
      if (isQueue(id)) return name === 'Arn' ? arn(`${run}-${id}`, 'sqs') : `${run}-${id}`;
      if (name === 'Arn' && getType(id) === 'AWS::Lambda::Function') return buildFunctionArn(`${run}-${id}`);
      return name === 'Arn' ? arn(id) : `${id}.${name}`;
    },
  };
}
