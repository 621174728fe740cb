import type { Names } from './intrinsics.ts';
import type { Template } from './template.ts';

/** The region that functions on this machine believe to be in. */
export const region = 'eu-west-1';
const account = '000000000000';

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

/** Names for the resources of a template; `run` sets the tables of one run apart from those of another. */
export function localNames({ Resources }: Template, run: string): Names {
  const arn = (id: string, service = 'local') => `arn:aws:${service}:${region}:${account}:${id}`;
  return {
    ref(id) {
      const service = servicesKnownByArn[Resources[id]?.Type ?? ''];
      return pseudoParameters[id] ?? (service ? arn(id, service) : `${run}-${id}`);
    },
    attribute(id, name) {
      if (!Resources[id]) throw new Error(`The template refers to ${id}, which it does not hold.`);
      return name === 'Arn' ? arn(id) : `${id}.${name}`;
    },
  };
}
