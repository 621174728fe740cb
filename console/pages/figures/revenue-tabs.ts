/** The pages of revenue: all payments, and the recurring part of them. */
export const revenueTabs = [
  { id: '', label: 'Payments' },
  { id: 'mrr', label: 'Recurring (MRR)' },
] as const;
