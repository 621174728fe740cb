import type { buildOpenApiDocument } from './openapi.ts';

type Document = ReturnType<typeof buildOpenApiDocument>;
type Operations = Readonly<Record<string, Readonly<Record<string, { readonly summary: string }>>>>;

/**
 * Renders the overview for language models: the links and each operation in a line. The links are relative to the
 * service.
 * @see https://llmstxt.org
 */
export function renderLlmsText({ info, paths, webhooks }: Document): string {
  const operations = Object.entries(paths as Operations).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { summary }]) => `- ${method.toUpperCase()} ${path}: ${summary}`),
  );
  const events = Object.entries(webhooks).map(([name, { post }]) => `- ${name}: ${post.summary}`);
  return [
    `# ${info.title}`,
    `> ${info.summary}. ${info.description}`,
    [
      'Credentials: HTTP Basic with the app name and a key. Released apps have the public key, your server has the secret key, and a viewer key',
      'only reads. `POST /v1/validate` responds with HTTP 200 to a failed validation: check `ok` and `code`. Only the codes 6778001, 6778003,',
      '6778004 and 6778006 prove that a purchase gives no access. After every other failure, keep the present access.',
    ].join('\n'),
    '## API',
    [
      '- [OpenAPI document](openapi.json): operations with schemas, and a request and a response of each',
      '- [Reference](reference): the same, as a page',
    ].join('\n'),
    '## Operations',
    operations.join('\n'),
    '## Webhooks',
    events.join('\n'),
    '',
  ].join('\n\n');
}
