/** Titles of the definitions. */
export const definitionTitles = {
  revenue: 'Revenue',
  mrr: 'Monthly recurring revenue',
  churn: 'Churn',
  retention: 'Retention',
  ltv: 'Lifetime value',
  conversion: 'Conversion',
  proceeds: 'Proceeds',
} as const;
export type DefinitionId = keyof typeof definitionTitles;
