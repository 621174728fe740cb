import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import * as v from 'valibot';
import type { TemplateNames } from './intrinsics.ts';
import { listResources, type Template } from './template.ts';

const Secret = v.object({
  GenerateSecretString: v.object({ PasswordLength: v.optional(v.number(), 32) }),
});
const GetSecretValue = v.object({ SecretId: v.string() });

/** Secret values by ARN. */
export type SecretValues = Readonly<Record<string, string>>;

/** A server that implements `GetSecretValue` of Secrets Manager. */
export interface SecretsManager {
  readonly endpoint: string;
  close(): Promise<void>;
}

/** Returns the present values, with a random one for each further secret of the template. */
export function generateSecrets(template: Template, names: TemplateNames, present: SecretValues): SecretValues {
  const secrets = listResources(template, 'AWS::SecretsManager::Secret', { properties: Secret, names });
  const generated = [...secrets].map(
    ([id, { GenerateSecretString }]) => [names.ref(id), generateSecret(GenerateSecretString.PasswordLength)] as const,
  );
  return { ...Object.fromEntries(generated), ...present };
}

/** Serves the secrets on a free port of this machine. */
export async function startSecretsManager(secrets: SecretValues): Promise<SecretsManager> {
  const server = createServer(async (request, response) => {
    const { status, body } = await toResponse(request, secrets);
    response.writeHead(status, { 'content-type': 'application/x-amz-json-1.1' }).end(JSON.stringify(body));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    endpoint: `http://127.0.0.1:${port}`,
    close: async () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function toResponse(request: IncomingMessage, secrets: SecretValues): Promise<{ status: number; body: object }> {
  const target = request.headers['x-amz-target'];
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), GetSecretValue), await text(request));
  if (target !== 'secretsmanager.GetSecretValue' || !parsed.success)
    return {
      status: 400,
      body: { __type: 'InvalidRequestException', message: `${target} does not run on this machine.` },
    };
  const { SecretId } = parsed.output;
  const SecretString = secrets[SecretId];
  if (SecretString === undefined)
    return { status: 400, body: { __type: 'ResourceNotFoundException', message: 'The secret is not found.' } };
  return { status: 200, body: { ARN: SecretId, Name: SecretId, SecretString, VersionStages: ['AWSCURRENT'] } };
}

const generateSecret = (length: number): string => randomBytes(length).toString('base64url').slice(0, length);
