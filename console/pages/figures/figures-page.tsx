import type { ComponentChildren } from 'preact';
import { Button } from '../../components/button.tsx';
import { SelectField } from '../../components/fields.tsx';
import { Page, Row } from '../../components/layout.tsx';
import { EndPlaceholders, ErrorNotice, Notice } from '../../components/notice.tsx';
import { UnconvertedNotice } from '../../components/unconverted-notice.tsx';
import { changeQuery, toHref, useLocation } from '../../router.tsx';
import { AnnotatedCharts, AnnotationsButton, useAnnotations } from '../annotations.tsx';
import { CountedUntil } from '../counted-until.tsx';
import { PeriodChoice } from '../period-choice.tsx';
import { describeShownDays, type PeriodId } from '../periods.ts';
import { DefinitionButton } from './definition-button.tsx';
import type { DefinitionId } from './definition-titles.ts';
import { FilterBar } from './filter-bar.tsx';
import { amounts, dimensions } from './filters.ts';
import type { PageFigures } from './use-figures.ts';

interface FiguresPageProps
  extends Pick<PageFigures<unknown>, 'filters' | 'interval' | 'intervals' | 'range' | 'comparison' | 'view'> {
  readonly title: string;
  readonly definition: DefinitionId;
  readonly presets?: readonly PeriodId[];
  /** Views of the page. `tab` of the link selects one. */
  readonly tabs?: readonly { readonly id: string; readonly label: string }[];
  readonly children: ComponentChildren;
}

export const proceedsTexts = {
  store: 'The stores report all proceeds.',
  table: 'Proceeds are computed with the table of commissions and the tax that the store reports.',
  estimated: 'Proceeds are estimated with the table of commissions: the tax of some payments is unknown.',
  mixed: 'Some proceeds are reported by the store, the others are computed with the table of commissions.',
} as const;

/** Frame of the pages of figures: the choices, the definition and the problems of their requests. */
export function FiguresPage(props: FiguresPageProps) {
  const { title, definition, filters, interval, intervals, presets, tabs, range, comparison, view, children } = props;
  const { period, by, amount, isSandbox } = filters;
  const { failed, figures } = view;
  const annotations = useAnnotations(range);
  return (
    <Page
      title={title}
      subtitle={[`${describeShownDays(range, isSandbox)}.`, comparison].filter(Boolean).join(' ')}
      actions={<PeriodChoice period={period} interval={interval} intervals={intervals} presets={presets} />}
    >
      {tabs && <ViewTabs title={title} tabs={tabs} />}
      <Row>
        {dimensions.map(({ id, label }) => (
          <Button key={id} isPressed={id === by} onClick={() => changeQuery({ by: id === 'none' ? '' : id, skip: '' })}>
            {label}
          </Button>
        ))}
        {amount !== undefined && (
          <SelectField
            label="Amounts"
            isLabelHidden
            value={amount}
            options={amounts}
            onChange={(id) => changeQuery({ amount: id === 'after_refunds' ? '' : id })}
          />
        )}
        <DefinitionButton id={definition} />
        <AnnotationsButton annotations={annotations} />
      </Row>
      <FilterBar filters={filters} range={range} />
      {figures?.proceedsSource && (
        <Notice>
          {proceedsTexts[figures.proceedsSource]} <DefinitionButton id="proceeds" />
        </Notice>
      )}
      <CountedUntil figures={figures} />
      <UnconvertedNotice share={figures?.unconvertedShare ?? 0} />
      <ErrorNotice error={failed?.error} {...(failed && { onRetry: failed.reload })} />
      <EndPlaceholders error={failed?.error}>
        <AnnotatedCharts annotations={annotations}>{children}</AnnotatedCharts>
      </EndPlaceholders>
    </Page>
  );
}

/** Links to the views of a page, with the same choices. */
function ViewTabs({ title, tabs }: Required<Pick<FiguresPageProps, 'title' | 'tabs'>>) {
  const { path, query } = useLocation();
  return (
    <nav class="tab-list" aria-label={`Views of ${title}`}>
      {tabs.map(({ id, label }) => (
        <a
          key={id}
          href={toHref(path, {}, { ...query, tab: id, metric: '' })}
          aria-current={id === (query.tab ?? '') ? 'page' : undefined}
        >
          {label}
        </a>
      ))}
    </nav>
  );
}
