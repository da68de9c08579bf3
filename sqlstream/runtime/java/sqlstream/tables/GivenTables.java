package sqlstream.tables;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.sql.catalyst.analysis.NoSuchTableException;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableCatalog;
import org.apache.spark.sql.connector.catalog.TableChange;
import org.apache.spark.sql.connector.catalog.TableInfo;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/** A catalog of Spark's whose tables are given by connectors, each under a name of its own: MERGE needs such. */
public final class GivenTables implements TableCatalog {

    private static final Map<String, Table> TABLES = new ConcurrentHashMap<>();

    private String catalog;

    /** The table called {@code name} is {@code table} from now on. */
    public static void put(String name, Table table) {
        TABLES.put(name, table);
    }

    @Override
    public void initialize(String name, CaseInsensitiveStringMap options) {
        catalog = name;
    }

    @Override
    public String name() {
        return catalog;
    }

    @Override
    public Identifier[] listTables(String[] namespace) {
        return TABLES.keySet().stream()
                .map(name -> Identifier.of(namespace, name))
                .toArray(Identifier[]::new);
    }

    @Override
    public Table loadTable(Identifier identifier) throws NoSuchTableException {
        Table found = TABLES.get(identifier.name());
        if (found == null) {
            throw new NoSuchTableException(identifier);
        }
        return found;
    }

    @Override
    public Table createTable(Identifier identifier, TableInfo info) {
        throw onlyGiven();
    }

    @Override
    public Table alterTable(Identifier identifier, TableChange... changes) {
        throw onlyGiven();
    }

    @Override
    public boolean dropTable(Identifier identifier) {
        throw onlyGiven();
    }

    @Override
    public void renameTable(Identifier from, Identifier to) {
        throw onlyGiven();
    }

    private static UnsupportedOperationException onlyGiven() {
        return new UnsupportedOperationException("A table that is given is not changed here.");
    }
}
