package acme;

import org.apache.flink.table.annotation.DataTypeHint;
import org.apache.flink.table.annotation.FunctionHint;
import org.apache.flink.table.functions.TableFunction;
import org.apache.flink.types.Row;

/** The words of a text, each with its length. */
@FunctionHint(output = @DataTypeHint("ROW<word STRING, length INT>"))
public class Words extends TableFunction<Row> {
    public void eval(String text) {
        if (text == null) {
            return;
        }
        for (String word : text.split(" ")) {
            collect(Row.of(word, word.length()));
        }
    }
}
