/** Name of the database's folder inside DATA_DIR. */
export const EMBEDDED_FOLDER = "database";
