// Amounts as people read them.

const NUMBER = new Intl.NumberFormat("en");

export const count = (value) => NUMBER.format(value);

/** "1 table", "2 tables" */
export const counted = (value, noun) => `${count(value)} ${noun}${value === 1 ? "" : "s"}`;
