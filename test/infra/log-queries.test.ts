import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { findResources, listProperties, readStack } from '../../testing/stack-templates.ts';

interface Query {
  readonly Name: string;
  readonly QueryString: string;
  readonly LogGroupNames: readonly object[];
}

const { joined: template } = await readStack('every');
const queries = listProperties(template, 'AWS::Logs::QueryDefinition') as readonly Query[];

/** Lists the members of the objects that the service passes to the log, and those that log.ts adds. */
function listLoggedMembers(): Set<string> {
  const sources = readdirSync('lib', { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => readFileSync(`lib/${file}`, 'utf8'));
  const contexts = sources.flatMap((source) => [
    ...source.matchAll(/(?:log(?:Error|Warning)\(|const (?:context|details) =\s*)\{([^{}]*)\}/g),
  ]);
  const members = contexts.flatMap(([, members = '']) => [...members.matchAll(/(\w+)\s*(?::|,|\}|$)/g)]);
  return new Set(['code', 'message', 'cause', ...members.map(([, member = '']) => member)]);
}

function listAccessLogFields(): Set<string> {
  const [stage] = listProperties(template, 'AWS::ApiGateway::Stage');
  return new Set(Object.keys(JSON.parse(stage?.AccessLogSetting.Format)));
}

const listNames = (text: string, pattern: RegExp): string[] => [...text.matchAll(pattern)].map(([, name = '']) => name);

describe('saved queries of the logs', () => {
  it('exist in a folder of the stack', () => {
    expect(queries.map(({ Name }) => Name).sort()).toEqual(
      [
        'errors-by-app',
        'errors-by-code',
        'failed-requests',
        'latest-errors',
        'notifications-delayed',
        'due-items-late',
        'purchases-not-refreshed',
        'rejected-credentials',
        'rejected-requests-by-address',
        'slow-requests',
        'webhooks-given-up',
        // A query accepts 50 log groups, and the stack has more functions.
        'errors-by-app-2',
        'errors-by-app-3',
        'errors-by-code-2',
        'errors-by-code-3',
        'latest-errors-2',
        'latest-errors-3',
        'rejected-credentials-2',
        'rejected-credentials-3',
      ]
        .map((name) => `Claimcheck-production/${name}`)
        .sort(),
    );
  });

  it.each(['errors-by-app', 'errors-by-code', 'latest-errors', 'rejected-credentials'])(
    'read the logs of all functions, at most 50 in a query: %s',
    (name) => {
      const parts = queries.filter(({ Name }) => new RegExp(`/${name}(-\\d)?$`).test(Name));
      const logGroups = parts.flatMap(({ LogGroupNames }) => LogGroupNames.map((logGroup) => JSON.stringify(logGroup)));
      expect(new Set(logGroups).size).toBe(Object.keys(findResources(template, 'AWS::Lambda::Alias')).length);
      for (const { LogGroupNames } of parts) expect(LogGroupNames.length).toBeLessThanOrEqual(50);
    },
  );

  it.each(queries.filter(({ LogGroupNames }) => LogGroupNames.length > 1))(
    'read only fields that functions log: $Name',
    ({ QueryString }) => {
      const fields = listNames(QueryString, /\bmessage\.(\w+)/g);
      expect(fields).not.toEqual([]);
      expect([...listLoggedMembers()]).toEqual(expect.arrayContaining(fields));
    },
  );

  // CloudWatch makes a field of each leaf: a cause is a text, or an error with a stack trace.
  it('show both kinds of a cause: latest-errors', () => {
    const { QueryString } = queries.find(({ Name }) => Name.endsWith('/latest-errors')) as Query;
    expect(listNames(QueryString, /\b(message\.cause[.\w]*)/g)).toEqual(['message.cause', 'message.cause.stack']);
  });

  it.each(queries.filter(({ LogGroupNames }) => LogGroupNames.length === 1))(
    'read only fields of the access log: $Name',
    ({ QueryString }) => {
      const names = listNames(QueryString, /(?<![@\w"])([a-z][A-Za-z0-9]*)\b(?!\()/g);
      const words = ['as', 'asc', 'by', 'desc', 'fields', 'filter', 'in', 'limit', 'sort', 'stats'];
      const results = listNames(QueryString, /\bas (\w+)/g);
      const fields = names.filter((name) => !words.includes(name) && !results.includes(name));
      expect(fields).not.toEqual([]);
      expect([...listAccessLogFields()]).toEqual(expect.arrayContaining(fields));
    },
  );
});
