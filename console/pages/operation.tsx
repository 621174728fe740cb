import { useState } from 'preact/hooks';
import { type CallOutcome, callOperation } from '../api/call-operation.ts';
import { baseUrl } from '../api/client.ts';
import { useAction, useLoad } from '../api/use-api.ts';
import { Button } from '../components/button.tsx';
import { Form, TextArea, TextField } from '../components/fields.tsx';
import { JsonView } from '../components/json-view.tsx';
import { Page, Row, Section } from '../components/layout.tsx';
import { EmptyState, ErrorNotice, Notice, Skeleton } from '../components/notice.tsx';
import { Badge } from '../components/values.tsx';
import { formatDuration } from '../format.ts';
import { Link } from '../router.tsx';
import { useCanChange, useSession } from '../session.ts';
import { describeType, fetchOpenApiDocument, listOperations, type Operation } from './open-api.ts';
import type { PageProps } from './page.ts';
import { describeKey } from './reference.tsx';

/** One operation: a form that calls it. The reference has its body, response and errors. */
export function OperationPage({ params: { operation: id } }: PageProps<'operation'>) {
  const { data, error, reload } = useLoad(fetchOpenApiDocument, 'openapi');
  const context = <Link to="/reference">API reference</Link>;
  const operation = data && listOperations(data).find(({ operationId }) => operationId === id);
  if (!operation)
    return (
      <Page title={id} context={context}>
        {error !== undefined && <ErrorNotice error={error} onRetry={reload} />}
        {data ? <EmptyState title="The API has no such operation." /> : error === undefined && <Skeleton lines={10} />}
      </Page>
    );
  const { method, path, description } = operation;
  return (
    <Page
      title={`${method} ${path}`}
      context={context}
      subtitle={
        <>
          {description} <a href={`${baseUrl.href}reference#${id}`}>Parameters, body, response and errors</a>
        </>
      }
      actions={<Badge tone="info">{describeKey(operation)}</Badge>}
    >
      <TryIt key={id} operation={operation} />
    </Page>
  );
}

const describeLimit = (level: string): string =>
  level === 'support' ? 'A support key is not sufficient.' : 'A viewer key can only read.';

/** Calls the operation with the key of the session. Not offered for a change that the key may not make. */
function TryIt({ operation }: { readonly operation: Operation }) {
  const canChange = useCanChange();
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const [body, setBody] = useState('{}');
  const [outcome, setOutcome] = useState<CallOutcome | undefined>();
  const { run, isRunning, error } = useAction(async () => {
    setOutcome(undefined);
    setOutcome(await callOperation(operation, { values, ...(operation.requestBody && { body }) }));
  });
  const { level = '' } = useSession() ?? {};
  const isAllowed = canChange || operation['x-additional-levels']?.includes(level) === true;
  if ((operation.method !== 'GET' || operation['x-secret-key-only']) && !isAllowed)
    return (
      <Section title="Try it">
        <Notice>
          {operation.method === 'GET' ? 'This operation requires the secret key.' : describeLimit(level)} Sign in with
          the secret key to call this operation.
        </Notice>
      </Section>
    );
  const writingParameter = operation['x-writing-parameter'];
  const parameters = operation.parameters.filter(({ name }) => canChange || name !== writingParameter);
  return (
    <Section title="Try it" description={describeEffect(operation)}>
      <Form label="Try it" onSubmit={run}>
        {parameters.map(({ name, required, description, schema }) => (
          <TextField
            key={name}
            label={name}
            value={values[name] ?? ''}
            onInput={(value) => setValues({ ...values, [name]: value })}
            isRequired={required}
            hint={`${describeType(schema)}. ${description}`.replaceAll('`', '')}
          />
        ))}
        {operation.requestBody && <TextArea label="Body" value={body} onInput={setBody} rows={10} />}
        <Row>
          <Button type="submit" kind="primary" isBusy={isRunning}>
            Send the request
          </Button>
        </Row>
      </Form>
      <ErrorNotice error={error} />
      {outcome && (
        <div class="stack outcome">
          <p>
            <Badge tone={outcome.status < 400 ? 'good' : 'bad'}>HTTP {outcome.status}</Badge>{' '}
            <span class="quiet number">{formatDuration(outcome.durationMs)}</span>
          </p>
          <JsonView value={outcome.body} label="response" />
        </div>
      )}
    </Section>
  );
}

function describeEffect({ method, 'x-writing-parameter': writingParameter }: Operation): string {
  const call = 'Calls this service with the key of your session';
  if (method !== 'GET') return `${call}, and changes its data.`;
  return writingParameter === undefined ? `${call}.` : `${call}. With ${writingParameter}, it changes data.`;
}
