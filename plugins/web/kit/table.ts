/** A column of a table. */
export interface Column {
  readonly id: string;
  readonly title: string;
  readonly isNumber?: boolean;
  readonly isSortable?: boolean;
  /** Left out on phones. */
  readonly isExtra?: boolean;
}
