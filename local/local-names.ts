import type { TemplateNames } from './intrinsics.ts';
import type { Template } from './template.ts';

/** The region that functions on this machine believe to be in. */
export const region = 'eu-west-1';
/** The account that they believe to be in. */
export const account = '000000000000';

/** The ARN of the function of this name. */
export const buildFunctionArn = (name: string): string => `arn:aws:lambda:${region}:${account}:function:${name}`;

const pseudoParameters: Readonly<Record<string, string>> = {
  'AWS::AccountId': account,
  'AWS::Partition': 'aws',
  'AWS::Region': region,
  'AWS::StackName': 'Claimcheck',
  'AWS::URLSuffix': 'amazonaws.com',
};

const servicesKnownByArn: Readonly<Record<string, string>> = {
  'AWS::SecretsManager::Secret': 'secretsmanager',
  'AWS::SNS::Topic': 'sns',
};

interface Run {
  /** Sets the tables and queues of one run apart from those of another. */
  readonly run: string;
  /** The URL of a queue by its name. */
  readonly queueUrl: (name: string) => string;
}

/** Names for the resources of a template. */
export function createLocalNames({ Resources }: Template, { run, queueUrl }: Run): TemplateNames {
  const arn = (name: string, service = 'local') => `arn:aws:${service}:${region}:${account}:${name}`;
  const typeOf = (id: string): string => Resources[id]?.Type ?? '';
  const isQueue = (id: string): boolean => typeOf(id) === 'AWS::SQS::Queue';
  return {
    ref(id) {
      const service = servicesKnownByArn[typeOf(id)];
      if (isQueue(id)) return queueUrl(`${run}-${id}`);
      return pseudoParameters[id] ?? (service ? arn(id, service) : `${run}-${id}`);
    },
    attribute(id, name) {
      if (!Resources[id]) throw new Error(`The template refers to ${id}, which it does not hold.`);
      if (isQueue(id)) return name === 'Arn' ? arn(`${run}-${id}`, 'sqs') : `${run}-${id}`;
      if (name === 'Arn' && typeOf(id) === 'AWS::Lambda::Function') return buildFunctionArn(`${run}-${id}`);
      return name === 'Arn' ? arn(id) : `${id}.${name}`;
    },
  };
}
