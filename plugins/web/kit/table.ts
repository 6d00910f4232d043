/** A column of a table. */
export interface Column {
  readonly id: string;
  readonly title: string;
  readonly isNumber?: boolean;
  readonly isSortable?: boolean;
  /** Takes the room that the others leave, and cuts what is longer. */
  readonly isFluid?: boolean;
  /** Left out on phones. */
  readonly isExtra?: boolean;
}
