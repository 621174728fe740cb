/** What has happened to the units of a change of credits, by its type, such as `40 coins were spent`. */
export const creditEntryTexts = {
  given: 'were given',
  taken: 'were taken by hand',
  spent: 'were spent',
  held: 'were held',
  captured: 'of a hold were spent',
  released: 'of a hold were released',
  expired: 'ended unspent',
  'taken-back': 'were taken back for a refund',
  returned: 'were returned, because the refund was reversed',
  received: 'were received from another customer',
  moved: 'were moved to another customer',
} as const;
