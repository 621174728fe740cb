import { baseUrl } from '../api/client.ts';
import { useLoad } from '../api/use-api.ts';
import { type Column, DataTable } from '../components/data-table.tsx';
import { Page, Section } from '../components/layout.tsx';
import { EmptyState, ErrorNotice, Skeleton } from '../components/notice.tsx';
import { Badge, CopyId } from '../components/values.tsx';
import { Link } from '../router.tsx';
import { fetchOpenApiDocument, listOperations, type Operation } from './open-api.ts';

/** All operations of the API, by area. */
export function ReferencePage() {
  const { data, error, reload } = useLoad(fetchOpenApiDocument, 'openapi');
  const operations = data && listOperations(data);
  const areas = [...new Set(operations?.map(({ tags }) => tags[0] ?? ''))];
  return (
    <Page
      title="API reference"
      subtitle={
        <>
          Base URL <CopyId value={baseUrl.href.replace(/\/$/, '')} label="base URL" /> ·{' '}
          <a href={`${baseUrl.href}openapi.json`}>openapi.json</a>
        </>
      }
    >
      <ErrorNotice error={error} onRetry={reload} />
      {!operations && error === undefined && (
        <Section title="Operations">
          <Skeleton lines={12} />
        </Section>
      )}
      {areas.map((area) => (
        <Section key={area} title={describeArea(area)}>
          <DataTable
            isOfRecords
            caption={describeArea(area)}
            columns={columns}
            rows={operations?.filter(({ tags }) => tags[0] === area)}
            getKey={({ operationId }) => operationId}
            empty={<EmptyState title="No operations." />}
          />
        </Section>
      ))}
    </Page>
  );
}

const areaNames: Readonly<Record<string, string>> = {
  stripe: 'Stripe checkout',
  braintree: 'Braintree',
  stats: 'Statistics',
};

const describeArea = (area: string): string => areaNames[area] ?? `${area.charAt(0).toUpperCase()}${area.slice(1)}`;

const keyNames: Readonly<Record<Operation['x-key'], string>> = {
  none: 'No key',
  public: 'Public key',
  secret: 'Secret or viewer key',
};

/** Names the key that an operation requires. A viewer key only reads. */
export function describeKey(
  operation: Pick<Operation, 'method' | 'x-key' | 'x-secret-key-only' | 'x-additional-levels'>,
): string {
  const isForSecretKey = operation.method !== 'GET' || operation['x-secret-key-only'];
  if (operation['x-key'] !== 'secret' || !isForSecretKey) return keyNames[operation['x-key']];
  return operation['x-additional-levels']?.includes('support') ? 'Secret or support key' : 'Secret key';
}

const columns: readonly Column<Operation>[] = [
  {
    title: 'Operation',
    render: ({ operationId, method, path }) => (
      <div class="path">
        <Link to="/reference/:operation" params={{ operation: operationId }}>
          <span class="mono">
            {method} {path.split(/(?=\/)/).map((part) => [part, <wbr />])}
          </span>
        </Link>
      </div>
    ),
  },
  { title: 'Summary', render: ({ summary }) => <div class="wrap">{summary}</div> },
  { title: 'Key', render: (operation) => <Badge>{describeKey(operation)}</Badge> },
];
