import { randomBytes } from 'node:crypto';
import { text } from 'node:stream/consumers';
import * as v from 'valibot';
import { type HttpServer, startHttpServer } from './http-server.ts';
import type { TemplateNames } from './intrinsics.ts';
import { listResources, type Template } from './template.ts';

const Secret = v.object({
  GenerateSecretString: v.object({ PasswordLength: v.optional(v.number(), 32) }),
});

/** The requests of `GetSecretValue` and `PutSecretValue`. */
const SecretRequest = v.object({ SecretId: v.string(), SecretString: v.exactOptional(v.string()) });

/** Secret values by ARN. */
export type SecretValues = Readonly<Record<string, string>>;

/** Returns the current values, with a random one for each other secret of the template. */
export function generateSecrets(template: Template, names: TemplateNames, present: SecretValues): SecretValues {
  const secrets = listResources(template, 'AWS::SecretsManager::Secret', { properties: Secret, names });
  const generated = [...secrets].map(
    ([id, { GenerateSecretString }]) => [names.ref(id), generateSecret(GenerateSecretString.PasswordLength)] as const,
  );
  return { ...Object.fromEntries(generated), ...present };
}

/**
 * Serves the secrets with `GetSecretValue` and `PutSecretValue` of Secrets Manager. `save` receives all values after a
 * change.
 */
export async function startSecretsManager(
  secrets: SecretValues,
  save: (secrets: SecretValues) => void = () => {},
): Promise<HttpServer> {
  const values = new Map(Object.entries(secrets));
  return await startHttpServer(async (request, response) => {
    const target = String(request.headers['x-amz-target']);
    const { status, body } = toResponse(target, await text(request), values);
    if (status === 200 && target === putSecretValue) save(Object.fromEntries(values));
    response.writeHead(status, { 'content-type': 'application/x-amz-json-1.1' }).end(JSON.stringify(body));
  });
}

const getSecretValue = 'secretsmanager.GetSecretValue';
const putSecretValue = 'secretsmanager.PutSecretValue';

function toResponse(target: string, text: string, values: Map<string, string>): { status: number; body: object } {
  const reject = (type: string, message: string) => ({ status: 400, body: { __type: type, message } });
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), SecretRequest), text);
  if (![getSecretValue, putSecretValue].includes(target) || !parsed.success)
    return reject('InvalidRequestException', `${target} does not run on this machine.`);
  const { SecretId, SecretString: newValue } = parsed.output;
  const value = values.get(SecretId);
  if (value === undefined) return reject('ResourceNotFoundException', 'The secret is not found.');
  const base = { ARN: SecretId, Name: SecretId, VersionStages: ['AWSCURRENT'] };
  if (target === getSecretValue) return { status: 200, body: { ...base, SecretString: value } };
  if (newValue === undefined) return reject('InvalidParameterException', 'SecretString is missing.');
  values.set(SecretId, newValue);
  return { status: 200, body: base };
}

const generateSecret = (length: number): string => randomBytes(length).toString('base64url').slice(0, length);
